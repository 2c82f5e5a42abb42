import Foundation
import MartletSQLite
import MartletValues
import Synchronization
import Testing

@testable import MartletEngine

@Suite("lock file")
struct LockFileTests {
    /// Files of other programs that have the name of a lock file.
    enum Foreign: CaseIterable {
        case text, eightBytes, database, realm, large, folder, pipe, linkToFile, linkToDatabase, danglingLink,
            hardLink

        func create(in folder: TestFolder) throws {
            let lock = folder.path("test.realm.lock")
            let victim = folder.path("victim.txt")
            switch self {
            case .text: try write("another program's lock file\n", lock)
            case .eightBytes: try write("pid 4321", lock)
            case .database:
                let connection = try Connection(ConnectionOptions(path: lock))
                try connection.execute("CREATE TABLE t (a)")
                connection.close()
            case .realm:
                try VirtualProcess(folder.path("moved.realm")).add("a")
                try FileManager.default.moveItem(atPath: folder.path("moved.realm"), toPath: lock)
            case .large: try write(String(repeating: "\0", count: 5_000), lock)
            case .folder: try FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: false)
            case .pipe: mkfifo(lock, 0o600)
            case .linkToFile, .hardLink:
                // The file is empty. Only its type or its number of hard links shows that it is foreign.
                try write("", victim)
                _ = self == .linkToFile ? symlink(victim, lock) : link(victim, lock)
            case .linkToDatabase: symlink(folder.path(), lock)
            case .danglingLink: symlink(victim, lock)
            }
        }

        private func write(_ text: String, _ path: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }
    }

    /// The inode number, mode and bytes of each file in a folder, by name.
    private func contents(_ folder: TestFolder) throws -> [String: String] {
        var contents: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
            var status = stat()
            lstat(folder.path(name), &status)
            let isPlain = status.st_mode & S_IFMT == S_IFREG
            let bytes = isPlain ? FileManager.default.contents(atPath: folder.path(name))?.base64EncodedString() : nil
            contents[name] = "\(status.st_ino) \(status.st_mode) \(bytes ?? "")"
        }
        return contents
    }

    @Test(
        "a foreign file with the name of the lock file is not changed, with or without a database D41",
        arguments: Foreign.allCases)
    func foreign(_ foreign: Foreign) throws {
        for exists in [true, false] {
            let folder = try TestFolder()
            if exists {
                try VirtualProcess(folder.path()).add("a")
                unlink(folder.path("test.realm.lock"))
            }
            try foreign.create(in: folder)
            let before = try contents(folder)
            expectRejection(folder)
            let deletion = engineError { _ = try StoreRegistry.remove(VirtualProcess.options(folder.path())) }
            // Without a database, these two links lead to no file, so there is nothing to delete.
            let hasNothingToDelete = !exists && [.linkToDatabase, .danglingLink].contains(foreign)
            if !hasNothingToDelete { #expect(deletion?.code == .accessDenied) }
            // Reading the log of the database may have changed the shared memory.
            let after = try contents(folder)
            #expect(after.filter { !$0.key.hasSuffix("-shm") } == before.filter { !$0.key.hasSuffix("-shm") })
        }
    }

    @Test("a lock file with a version that the database never had is not used D41")
    func wrongVersion() throws {
        let folder = try TestFolder()
        try VirtualProcess(folder.path()).add("a")
        let lock = folder.path("test.realm.lock")
        unlink(lock)
        // The file has the length of a lock file of an earlier release.
        let content = Data([0, 0, 1, 0, 0, 0, 0, 0])
        try content.write(to: URL(fileURLWithPath: lock))
        expectRejection(folder)
        #expect(FileManager.default.contents(atPath: lock) == content)
    }

    /// Checks that the database cannot be opened because of its lock file.
    private func expectRejection(_ folder: TestFolder) {
        let error = engineError { _ = try VirtualProcess(folder.path()) }
        #expect(error?.code == .accessDenied && error?.path == folder.path())
        #expect(error?.message.contains("'\(folder.path("test.realm.lock"))'") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("choose another name for the database") == true)
    }

    @Test("the next write does not change a foreign lock file that appears while the database is open D41")
    func foreignLater() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        try process.add("a")
        let lock = folder.path("test.realm.lock")
        unlink(lock)
        try Data("another program's".utf8).write(to: URL(fileURLWithPath: lock))
        let error = engineError { try process.add("b") }
        #expect(error?.code == .accessDenied)
        #expect(FileManager.default.contents(atPath: lock) == Data("another program's".utf8))
        unlink(lock)
        try process.add("c")
        #expect(try process.noteCount == 2)
    }

    @Test(
        "a database cannot have a name that belongs to a file beside a database, such as a log D42",
        arguments: ["-wal", "-shm", "-journal", ".lock", ".LOCK"])
    func names(_ suffix: String) throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        let name = "notes.realm\(suffix)"
        symlink(name, folder.path("link.realm"))
        for path in [folder.path(name), folder.path("link.realm")] {
            for isReadOnly in [false, true] {
                let error = engineError { _ = try VirtualProcess(path) { $0.isReadOnly = isReadOnly } }
                #expect(error?.code == .accessDenied && error?.message.contains("choose another name") == true)
            }
            let error = engineError { try process.coordinator.writeCopy(to: path) }
            #expect(error?.code == .accessDenied)
        }
        #expect(!StoreFiles.exists(folder.path(name)))
    }

    @Test("lock files of earlier releases are used, and keep the numbers that they contain D43", arguments: [0, 1, 3])
    func earlier(_ words: Int) throws {
        let folder = try TestFolder()
        try VirtualProcess(folder.path()).add("a")
        let lock = folder.path("test.realm.lock")
        let bytes = [UInt8]([2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0].prefix(words * 8))
        try Data(bytes).write(to: URL(fileURLWithPath: lock))
        let process = try VirtualProcess(folder.path())
        #expect(process.coordinator.writeLock.tryAcquire())
        let adopted = [UInt8](FileManager.default.contents(atPath: lock) ?? Data())
        // The numbers are kept, and the magic number is added.
        #expect(adopted.count == 64 && adopted.starts(with: bytes) && adopted[24...].starts(with: LockFile.magic))
        process.coordinator.writeLock.release()
        // The version is written if a process watches the file.
        let watch = WatchLock(path: lock)
        try process.add("b")
        let version = try #require(process.handle?.version)
        #expect(FileManager.default.contents(atPath: lock)?.first == UInt8(version))
        withExtendedLifetime(watch) {}
    }

    // MARK: Deleted or replaced

    private func locks(_ folder: TestFolder) -> (WriteLock, WriteLock) {
        let environment = VirtualProcess.options("").environment
        let path = folder.path("test.realm.lock")
        return (WriteLock(path: path, environment: environment), WriteLock(path: path, environment: environment))
    }

    @Test(
        "a process does not lock with a lock file that was deleted or replaced while the process had it open D40",
        arguments: [false, true])
    func deleted(_ isReplaced: Bool) throws {
        let folder = try TestFolder()
        let (first, second) = locks(folder)
        try first.acquire()
        first.release()
        if isReplaced {
            try Data().write(to: URL(fileURLWithPath: folder.path("new")))
            rename(folder.path("new"), folder.path("test.realm.lock"))
        } else {
            unlink(folder.path("test.realm.lock"))
        }
        try second.acquire()
        #expect(!first.tryAcquire())
        #expect(engineError { try first.acquire() }?.message.contains("another process") == true)
        let watch = WatchLock(path: folder.path("test.realm.lock"))
        second.record(7)
        #expect(first.recordedVersion == 7)
        second.release()
        try first.acquire()
        #expect(!second.tryAcquire())
        first.record(8)
        #expect(second.recordedVersion == 8)
        first.release()
        withExtendedLifetime(watch) {}
    }

    // MARK: Watch locks

    #if os(Linux)
        @Test("a version is written to the lock file only if another watcher holds a watch lock")
        func watchLocks() throws {
            let folder = try TestFolder()
            let (lock, _) = locks(folder)
            try lock.acquire()
            defer { lock.release() }
            lock.record(1)
            #expect(lock.recordedVersion == 0)
            var watches = try (0..<3).map { _ in try #require(WatchLock(path: folder.path("test.realm.lock"))) }
            lock.record(2, besides: watches[0])
            #expect(lock.recordedVersion == 2)
            watches.removeLast(2)
            lock.record(3, besides: watches[0])
            #expect(lock.recordedVersion == 2)
            lock.record(4)
            #expect(lock.recordedVersion == 4)
            let own = watches.removeLast()
            let other = try #require(WatchLock(path: folder.path("test.realm.lock")))
            lock.record(5, besides: own)
            #expect(lock.recordedVersion == 5)
            withExtendedLifetime(other) {}
        }

        @Test("a file that cannot be opened has no watch lock, and closing a watch lock wakes no watcher")
        func watchLockFile() throws {
            let folder = try TestFolder()
            #expect(WatchLock(path: folder.path("absent.lock")) == nil)
            symlink("test.realm.lock", folder.path("link.lock"))
            try Data().write(to: URL(fileURLWithPath: folder.path("test.realm.lock")))
            #expect(WatchLock(path: folder.path("link.lock")) == nil)
            let queue = inotify_init1(Int32(IN_NONBLOCK))
            defer { close(queue) }
            inotify_add_watch(queue, folder.path("test.realm.lock"), UInt32(IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB))
            do {
                let watch = try #require(WatchLock(path: folder.path("test.realm.lock")))
                withExtendedLifetime(watch) {}
            }
            var event: UInt64 = 0
            #expect(read(queue, &event, 8) == -1 && errno == EAGAIN)
        }
    #endif

    @Test("two processes can create one database at the same time, even if its lock file is deleted meanwhile")
    func deletedDuringCreation() throws {
        let folder = try TestFolder()
        let path = folder.path()
        let others = Mutex<[VirtualProcess]>([])
        let process = try VirtualProcess(path) {
            $0.environment.onYield = { point in
                guard case .insideCreate = point else { return }
                unlink(path + LockFile.suffix)
                others.withLock { others in
                    guard others.isEmpty, let other = try? VirtualProcess(path) else { return }
                    try? other.add("a")
                    others.append(other)
                }
            }
        }
        try process.add("b")
        #expect(try process.texts == ["a", "b"] && others.withLock { $0.count } == 1)
        #expect(try process.integrity == .text("ok"))
    }

    @Test("the lock file of a deleted database is not created again D40")
    func deletedDatabase() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        try process.add("a")
        StoreFiles.remove(folder.path())
        #expect(engineError { try process.add("b") }?.code == .fileNotFound)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    }

    // MARK: Modes

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private func modes(_ path: String) -> [mode_t] { ["", "-wal", "-shm", ".lock"].map { mode(path + $0) } }

    // Reads the umask from the system: a call of the function `umask` would change the umask and affect the files of
    // other tests.
    private var umask: UInt32 {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("Umask:") }
        return line.flatMap { UInt32($0.dropFirst(6).trimmingPrefix(while: \.isWhitespace), radix: 8) } ?? 0o022
    }

    @Test(
        "files of a new database have the requested mode without the bits of the umask D50",
        arguments: [0o600, 0o640, 0o664])
    func newModes(_ wanted: Int) throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path()) { $0.fileMode = UInt32(wanted) }
        try process.add("a")
        #expect(modes(folder.path()) == Array(repeating: mode_t(UInt32(wanted) & ~umask), count: 4))
    }

    @Test(
        "when a database is opened, the files beside it get its mode D51",
        arguments: [0o600, 0o660, 0o604])
    func changedModes(_ wanted: Int) throws {
        let folder = try TestFolder()
        try VirtualProcess(folder.path()) { $0.fileMode = 0o644 }.add("a")
        let keeper = try VirtualProcess(folder.path())
        try keeper.add("b")
        chmod(folder.path(), mode_t(wanted))
        let process = try VirtualProcess(folder.path())
        #expect(modes(folder.path()) == Array(repeating: mode_t(wanted), count: 4))
        unlink(folder.path("test.realm.lock"))
        try process.add("c")
        #expect(modes(folder.path()) == Array(repeating: mode_t(wanted), count: 4))
    }

    @Test("files that root creates get the owner and the group of the database D51", .enabled(if: geteuid() == 0))
    func owner() throws {
        let folder = try TestFolder()
        try VirtualProcess(folder.path()).add("a")
        for suffix in ["", "-wal", "-shm"] { chown(folder.path() + suffix, 4_321, 5_432) }
        unlink(folder.path("test.realm.lock"))
        try VirtualProcess(folder.path()).add("b")
        for suffix in ["", "-wal", "-shm", ".lock"] {
            var status = stat()
            #expect(stat(folder.path() + suffix, &status) == 0)
            #expect(status.st_uid == 4_321 && status.st_gid == 5_432, "\(suffix)")
        }
    }

    @Test("a copy has the mode of its source, and is writable by its owner D52", arguments: [0o600, 0o640, 0o444])
    func copies(_ wanted: Int) throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        try process.add("a")
        chmod(folder.path(), mode_t(wanted))
        try process.coordinator.writeCopy(to: folder.path("copy.realm"))
        #expect(mode(folder.path("copy.realm")) == mode_t(wanted | 0o600))
        process.handle = nil
        let seeded = try VirtualProcess(folder.path("seeded.realm")) { $0.seedPath = folder.path() }
        try seeded.add("b")
        #expect(modes(folder.path("seeded.realm")) == Array(repeating: mode_t(wanted | 0o600), count: 4))
    }

    @Test("a link with the name of an unfinished copy is not followed D52")
    func unfinishedCopy() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        try process.add("a")
        let victim = folder.path("victim.realm")
        try Data("precious".utf8).write(to: URL(fileURLWithPath: victim))
        // Creates a link for every number that the name of the unfinished copy may contain.
        for number in 1...200 { symlink(victim, folder.path("copy.realm.copy-\(getpid())-\(number)")) }
        try process.coordinator.writeCopy(to: folder.path("copy.realm"))
        #expect(FileManager.default.contents(atPath: victim) == Data("precious".utf8))
        #expect(try VirtualProcess(folder.path("copy.realm")).noteCount == 1)
    }
}
