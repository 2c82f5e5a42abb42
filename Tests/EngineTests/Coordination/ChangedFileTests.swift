import CMartletTestVFS
import Foundation
import MartletSQLite
import MartletValues
import Synchronization
import Testing

@testable import MartletEngine

/// Tests with files that another program changes, replaces or damages while they are open, and with files that cannot
/// be written.
@Suite("files that are changed while they are open")
struct ChangedFileTests {
    private func makeFiles(_ count: Int = 5) throws -> (files: DatabaseFiles, backup: String) {
        let files = DatabaseFiles(folder: try TestFolder())
        try files.run(adding: count, "old")
        let backup = files.folder.path("backup.realm")
        try FileManager.default.copyItem(atPath: files.path, toPath: backup)
        return (files, backup)
    }

    // MARK: Backups

    enum Rewriting: CaseIterable { case compacted, shortened, withoutLockFile }

    @Test(
        "a write rejects a backup that was copied over the open file, even after the log was rewritten D23",
        arguments: Rewriting.allCases)
    func rejectedAfterRewriting(_ rewriting: Rewriting) throws {
        let (files, backup) = try makeFiles()
        let process = try files.open()
        _ = try process.texts
        process.handle = nil
        switch rewriting {
        case .compacted: try process.coordinator.compact()
        case .shortened:
            try process.add("new")
            process.handle = nil
            let done = try process.coordinator.checkpoint()
            try FileManager.default.removeItem(atPath: backup)
            try FileManager.default.copyItem(atPath: files.path, toPath: backup)
            let connection = try process.coordinator.takeConnection()
            #expect(process.coordinator.restartLog(connection, after: done.logFrames))
            process.coordinator.returnConnection(connection)
        case .withoutLockFile:
            try process.add("new")
            process.handle = nil
            try process.coordinator.checkpoint()
            try process.add("newer")
            files.remove([".lock"])
        }
        process.handle = nil
        try files.overwrite(with: backup)
        #expect(engineError { try process.add("refused") }?.code == .fileReplaced)
        #expect(files.bytes == FileManager.default.contents(atPath: backup))
    }

    @Test("an open file that was overwritten is not copied D23 O8", arguments: [false, true])
    func copyOfOverwritten(_ isOverwrittenBefore: Bool) throws {
        let (files, backup) = try makeFiles()
        let process = try files.open()
        try process.add("new")
        process.handle = nil
        if isOverwrittenBefore { try files.overwrite(with: backup) }
        let copy = files.folder.path("copy.realm")
        let connection = try process.coordinator.takeConnection()
        defer { process.coordinator.returnConnection(connection) }
        let error = engineError {
            if isOverwrittenBefore { return try process.coordinator.writeCopy(to: copy) }
            try StoreCopy(path: copy, options: process.coordinator.options).write(connection) {
                try files.overwrite(with: backup)
                try connection.run("BEGIN")
                defer { try? connection.run("ROLLBACK") }
                _ = try process.coordinator.meta(connection)
            }
        }
        #expect(error?.code == .fileReplaced)
        #expect(!StoreFiles.exists(copy))
    }

    @Test(
        "if a write fails or is killed after the log was emptied, the next write succeeds D3 D11", arguments: [1, 2])
    func failedWrite(_ failures: Int) throws {
        let folder = try TestFolder()
        let vfs = HookVFS()
        let process = try VirtualProcess(folder.path()) { $0.environment.vfsName = vfs.name }
        try process.add("a")
        process.handle = nil
        // Empties the log, as another process does when it closes the file.
        let other = try process.coordinator.takeConnection()
        #expect(process.coordinator.emptyLog(other) && process.coordinator.writeLock.tryAcquire())
        process.coordinator.writeLock.release()
        process.coordinator.returnConnection(other)
        let coordinator = process.coordinator
        for _ in 0..<failures {
            // Simulates a writer that is killed after it has written its log name into the file and before it writes
            // the log.
            let connection = try coordinator.takeConnection()
            try connection.recordLogName(.random(in: 1...UInt64.max))
            coordinator.returnConnection(connection)
            if failures > 1 { try process.coordinator.checkpoint() }
        }
        try process.add("b")
        #expect(try process.texts == ["a", "b"])
    }

    @Test("a checkpoint does not change a backup that was copied with its log and index over an open file D23")
    func checkpointOfBackup() throws {
        let (files, _) = try makeFiles()
        let process = try files.open()
        try process.add("new")
        let suffixes = ["", "-wal", "-shm"]
        let backup = try suffixes.map { try Data(contentsOf: URL(fileURLWithPath: files.path + $0)) }
        try process.add("newer")
        process.handle = nil
        for (suffix, bytes) in zip(suffixes, backup) { try bytes.write(to: URL(fileURLWithPath: files.path + suffix)) }
        #expect(engineError { try process.coordinator.checkpoint() }?.code == .fileReplaced)
        #expect(files.bytes == backup[0])
    }

    // MARK: Logs

    @Test("a log that another process is using is not truncated, although the lock file was deleted D40")
    func truncatedWhileCommitting() throws {
        let folder = try TestFolder()
        let files = DatabaseFiles(folder: folder)
        let (vfs, otherVFS) = (HookVFS(), HookVFS())
        let process = try VirtualProcess(files.path) { $0.environment.vfsName = vfs.name }
        try process.add("a")
        process.handle = nil
        try process.coordinator.checkpoint()
        let (isCommitted, hasOpenedOrTruncates) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        otherVFS.onNext(.truncate) {
            hasOpenedOrTruncates.signal()
            isCommitted.wait()
        }
        let otherName = otherVFS.name
        let isOpened = DispatchSemaphore(value: 0)
        let isArmed = Mutex(true)
        vfs.onEach(.write) { event in
            // This event writes the header of the new log. The database file already contains the new log name.
            guard event.role == .wal, event.offset == 0 else { return }
            let isFirst = isArmed.withLock { isArmed in
                defer { isArmed = false }
                return isArmed
            }
            guard isFirst else { return }
            unlink(files.path + ".lock")
            Thread.detachNewThread {
                let other = try? VirtualProcess(files.path) { $0.environment.vfsName = otherName }
                #expect((try? other?.texts)?.first == "a")
                hasOpenedOrTruncates.signal()
                isOpened.signal()
            }
            hasOpenedOrTruncates.wait()
        }
        try process.add("b")
        isCommitted.signal()
        isOpened.wait()
        let killed = try files.afterKill()
        killed.remove(["-shm"])
        try killed.expect(["a", "b"])
    }

    enum Damage: CaseIterable { case truncated, shortened, overwritten }

    @Test("the next write is refused if the log was truncated or overwritten D29", arguments: Damage.allCases)
    func damagedLog(_ damage: Damage) throws {
        let (files, _) = try makeFiles()
        do {
            let process = try files.open()
            try process.add("new 0")
            let former = try files.afterKill()
            try process.add("new 1")
            process.handle = nil
            switch damage {
            case .truncated: truncate(files.path + "-wal", 0)
            case .shortened: try files.overwrite("-wal", with: former.path + "-wal")
            case .overwritten:
                let other = DatabaseFiles(folder: try TestFolder())
                let another = try other.open()
                for number in 0..<5 { try another.add("other \(number)") }
                try files.overwrite("-wal", with: other.path + "-wal")
            }
            for _ in 0..<2 {
                let error = engineError { try process.add("refused") }
                #expect(error?.code == .fileReplaced && error?.message.contains("truncated") == true)
            }
            #expect(engineError { try process.coordinator.writeCopy(to: files.folder.path("copy.realm")) } != nil)
        }
        let process = try files.open()
        #expect(try process.texts.starts(with: ["old 0", "old 1", "old 2", "old 3", "old 4"]))
        try process.add("later")
        #expect(try process.integrity == .text("ok"))
    }

    // MARK: Links

    @Test("a file that was moved is not written, even if a symbolic link at its former path leads to it D24")
    func movedBehindLink() throws {
        let (files, _) = try makeFiles()
        let process = try files.open()
        try process.add("new")
        let target = files.folder.path("target.realm")
        #expect(rename(files.path, target) == 0 && symlink(target, files.path) == 0)
        #expect(engineError { try process.add("refused") }?.code == .fileNotFound)
        unlink(files.path)
        #expect(rename(target, files.path) == 0)
        try process.add("newer")
        #expect(try process.texts.suffix(2) == ["new", "newer"])
    }

    // MARK: Lock files

    @Test("a lock file that could not be written completely does not prevent opening the file D43")
    func lockWithoutMagic() throws {
        let (files, _) = try makeFiles(1)
        // An earlier release left these bytes in the lock file if the disk became full while it created the file.
        var bytes = [UInt8](repeating: 0, count: 72)
        bytes.replaceSubrange(64..<72, with: [1, 2, 3, 4, 5, 6, 7, 8])
        try Data(bytes).write(to: URL(fileURLWithPath: files.path + ".lock"))
        try files.expect(["old 0"])
        #expect(try LockFile(path: files.path + ".lock").inspect() == .currentOrUnreadable)
    }

    @Test("a write that cannot create the lock file throws, and later the file can be opened D3 D43")
    func unwritableLock() async {
        await #expect(processExitsWith: .success) {
            let files = DatabaseFiles(folder: try TestFolder())
            try files.run(adding: 1, "old")
            let process = try files.open()
            _ = try process.texts
            files.remove([".lock"])
            // Writes to files fail while this limit is set, as on a full disk.
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { exit(2) }
            var none = limit
            none.rlim_cur = 0
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &none)
            let error = engineError { try process.add("refused") }
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            #expect(error?.code == .inputOutput && error?.path == files.path + ".lock")
            process.handle = nil
            try files.expect(["old 0"])
        }
    }

    @Test("a write after the folder of the file was deleted throws .fileNotFound D24")
    func folderDeletedBeforeFirstWrite() throws {
        let (files, _) = try makeFiles(1)
        files.remove([".lock"])
        let process = try files.open()
        _ = try process.texts
        try FileManager.default.removeItem(at: files.folder.url)
        #expect(engineError { try process.add("refused") }?.code == .fileNotFound)
    }

    #if os(Linux)
        @Test("a child that is forked while a lock file is opened has no descriptor of the lock file N141")
        func forkedWhileOpening() async {
            await #expect(processExitsWith: .success) {
                alarm(60)
                let files = DatabaseFiles(folder: try TestFolder())
                try files.run(adding: 1, "old")
                let path = files.path + ".lock"
                Thread.detachNewThread {
                    while true {
                        let lock = WriteLock(path: path, environment: .live)
                        if lock.tryAcquire() { lock.release() }
                    }
                }
                var ends: [Int32] = [0, 0]
                guard pipe(&ends) == 0 else { exit(3) }
                for _ in 0..<300 {
                    let child = cmartlet_fork()
                    if child == 0 {
                        _ = write(ends[1], "a", 1)
                        while true { pause() }
                    }
                    // The child sends its byte after its fork handler has replaced the inherited descriptors.
                    var byte: UInt8 = 0
                    guard read(ends[0], &byte, 1) == 1 else { exit(4) }
                    let folder = "/proc/\(child)/fd"
                    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
                    let open = names.compactMap {
                        try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
                    }
                    kill(child, SIGKILL)
                    var status: Int32 = 0
                    waitpid(child, &status, 0)
                    if open.contains(where: { $0.hasSuffix(".lock") }) { exit(2) }
                }
            }
        }
    #endif

    // MARK: Deletion and file names

    @Test("a file that needs a migration is not deleted if another process has already replaced it O8")
    func recreatedTwice() throws {
        let (files, _) = try makeFiles(1)
        let types = ["object Note\nproperty text Int"]
        let isArmed = Mutex(true)
        nonisolated(unsafe) var other: VirtualProcess?
        let options = VirtualProcess.options(files.path, types) { options in
            options.replacesFile = true
            options.mayMigrate = false
            options.environment.now = {
                let isFirst = isArmed.withLock { isArmed in
                    defer { isArmed = false }
                    return isArmed
                }
                if isFirst {
                    // Simulates another process that acquires the write lock first and replaces the file.
                    StoreFiles.remove(files.path)
                    do {
                        let process = try VirtualProcess(files.path, types)
                        try process.write { _ = try $0.insert("Note", [.integer(1)]) }
                        other = process
                    } catch {
                        Issue.record(error)
                    }
                }
                return DispatchTime.now().uptimeNanoseconds
            }
        }
        let coordinator = try StoreRegistry.coordinator(options)
        #expect(other != nil)
        #expect(try VirtualProcess(coordinator).integer("SELECT count(*) FROM Note") == 1)
    }

    @Test("a file that cannot be deleted is reported, and the files beside it remain O8", .enabled(if: geteuid() == 0))
    func undeletable() async {
        await #expect(processExitsWith: .success) {
            let files = DatabaseFiles(folder: try TestFolder())
            try files.run(adding: 1, "old")
            chmod(files.folder.url.path, 0o755)
            for suffix in ["", "-wal", "-shm", ".lock"] { chmod(files.path + suffix, 0o666) }
            guard seteuid(65_534) == 0 else { exit(2) }
            let error = engineError { _ = try StoreRegistry.remove(VirtualProcess.options(files.path)) }
            seteuid(0)
            #expect(error?.code == .accessDenied && error?.message.contains("deleted") == true)
            for suffix in ["", "-wal", "-shm", ".lock"] { #expect(StoreFiles.exists(files.path + suffix)) }
        }
    }

    @Test("a file beside a database cannot be deleted as if it were a database D42", arguments: ["-wal", ".lock"])
    func deleteLog(_ suffix: String) throws {
        let (files, _) = try makeFiles(1)
        let error = engineError { _ = try StoreRegistry.remove(VirtualProcess.options(files.path + suffix)) }
        #expect(error?.code == .accessDenied && StoreFiles.exists(files.path + suffix))
    }

    @Test("a path that is too long for a database is refused, and no file is created D70")
    func longPath() throws {
        let folder = try TestFolder()
        for length in [503, 504, 505, 600] {
            let names = String(repeating: "n/", count: (length - folder.url.path.utf8.count - 2) / 2)
            let name = names + String(repeating: "x", count: length - folder.url.path.utf8.count - 1 - names.utf8.count)
            let path = folder.path(name)
            #expect(path.utf8.count == length)
            try FileManager.default.createDirectory(
                atPath: StoreFiles.folder(of: path), withIntermediateDirectories: true)
            let error = engineError { try VirtualProcess(path).add("a") }
            #expect(error == nil || error?.code == .accessDenied, "\(length) \(String(describing: error))")
            #expect(StoreFiles.exists(path) == (error == nil), "\(length)")
            if length > 504 {
                #expect(error?.message.contains("bytes") == true)
            } else {
                #expect(error == nil, "\(length)")
            }
        }
    }

    @Test("a copy can have every name that a database can have O8 D70")
    func longNamesOfCopies() throws {
        let (files, _) = try makeFiles(1)
        let process = try files.open()
        for length in [200, 230, 240, 247] {
            for character in ["n", "ö"] {
                let name = String(repeating: character, count: length / character.utf8.count)
                try process.coordinator.writeCopy(to: files.folder.path(name))
                #expect(try VirtualProcess(files.folder.path(name)).texts == ["old 0"])
            }
        }
        for length in [248, 255] {
            let name = String(repeating: "m", count: length)
            let error = engineError { try process.coordinator.writeCopy(to: files.folder.path(name)) }
            #expect(error?.code == .accessDenied && error?.message.contains("at most 247") == true)
        }
        let prefix = files.folder.url.path + "/" + String(repeating: String(repeating: "f", count: 49) + "/", count: 6)
        try FileManager.default.createDirectory(atPath: prefix, withIntermediateDirectories: true)
        let path = prefix + String(repeating: "n", count: 504 - prefix.utf8.count)
        try process.coordinator.writeCopy(to: path)
        #expect(try VirtualProcess(path).texts == ["old 0"])
        let names = try FileManager.default.contentsOfDirectory(atPath: files.folder.url.path)
        #expect(!names.contains { $0.contains(".copy-") || $0.hasPrefix("m") })
    }
}
