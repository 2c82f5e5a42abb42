import CMartletTestVFS
import Foundation
import MartletSQLite
import MartletValues
import Synchronization
import Testing

@testable import MartletEngine

/// The files of a database. Tests change them without SQLite, as `cp`, `mv` and `rm` do.
struct DatabaseFiles {
    let folder: TestFolder
    var name = "test.realm"
    /// The lines that the engine logs in `open` and in the processes that `open` returns.
    let reports = Reports()

    final class Reports: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    var path: String { folder.path(name) }

    func open() throws -> VirtualProcess {
        let reports = reports
        return try VirtualProcess(path) { $0.environment.log = { reports.add($0) } }
    }

    /// Opens the file, adds notes, and closes it.
    func run(adding count: Int, _ text: String) throws {
        let process = try open()
        for number in 0..<count { try process.add("\(text) \(number)") }
    }

    /// Overwrites the existing file in place, as `cp` does.
    func overwrite(_ suffix: String = "", with source: String) throws {
        try Data(contentsOf: URL(fileURLWithPath: source)).write(to: URL(fileURLWithPath: path + suffix))
    }

    /// Copies the current bytes of all files to a new folder. A kill at this moment would leave the same bytes.
    func afterKill() throws -> DatabaseFiles {
        let copy = DatabaseFiles(folder: try TestFolder(), name: name)
        for suffix in ["", "-wal", "-shm", ".lock"] where StoreFiles.exists(path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy.path + suffix)
        }
        return copy
    }

    func remove(_ suffixes: [String]) {
        for suffix in suffixes { unlink(path + suffix) }
    }

    var logBytes: Int { StoreFiles.logBytes(path) }
    var bytes: Data? { FileManager.default.contents(atPath: path) }

    /// Opens the file, and expects that it contains exactly these notes and is not damaged. Then adds the note "on".
    func expect(_ texts: [String], _ what: Comment? = nil, location: SourceLocation = #_sourceLocation) throws {
        let process = try open()
        #expect(try process.texts == texts, what, sourceLocation: location)
        #expect(try process.integrity == .text("ok"), what, sourceLocation: location)
        try process.add("on")
        #expect(try process.texts == texts + ["on"], what, sourceLocation: location)
    }
}

extension VirtualProcess {
    var texts: [String] {
        get throws {
            try column("SELECT text FROM Note ORDER BY _key").map { if case .text(let text) = $0 { text } else { "?" } }
        }
    }
}

/// All combinations of the files beside a database. Tests delete each combination after they restore a backup.
let removableFileCombinations: [[String]] = [
    [], ["-wal"], ["-shm"], [".lock"], ["-wal", "-shm"], ["-wal", ".lock"], ["-shm", ".lock"],
    ["-wal", "-shm", ".lock"],
]

@Suite("restoring a backup")
struct RestoreTests {
    private static let old = (0..<5).map { "old \($0)" }
    private static let all = old + (0..<3).map { "new \($0)" }

    /// Creates a file with five notes and a backup of it: a copy of the closed file, or the result of `writeCopy`.
    private func makeFiles(usesWriteCopy: Bool) throws -> (files: DatabaseFiles, backup: String) {
        let files = DatabaseFiles(folder: try TestFolder())
        try files.run(adding: 5, "old")
        let backup = files.folder.path("backup.realm")
        if usesWriteCopy {
            try files.open().coordinator.writeCopy(to: backup)
        } else {
            try FileManager.default.copyItem(atPath: files.path, toPath: backup)
        }
        return (files, backup)
    }

    // MARK: Logs that cannot be set aside

    @Test("a log that does not belong to the file and cannot be renamed is not read D20 D21")
    func logThatCannotBeRenamed() throws {
        // With this name, the files that SQLite creates have names of at most 255 bytes. A set-aside log would have a
        // longer name.
        let files = DatabaseFiles(folder: try TestFolder(), name: String(repeating: "n", count: 247))
        try files.run(adding: 5, "old")
        let backup = files.folder.path("backup.realm")
        try FileManager.default.copyItem(atPath: files.path, toPath: backup)
        var killed: DatabaseFiles?
        do {
            let process = try files.open()
            try process.add("new")
            killed = try files.afterKill()
        }
        let restored = try #require(killed)
        try restored.overwrite(with: backup)
        for _ in 0..<2 {
            let error = engineError { _ = try restored.open() }
            #expect(error?.code == .inputOutput && error?.message.contains("cannot be renamed") == true)
        }
        #expect(restored.logBytes > 0)
        restored.remove(["-wal"])
        try restored.expect(Self.old)
    }

    // MARK: Logs without a commit

    @Test("a log that writers began without a commit is not treated as the log of another file D21")
    func uncommittedLog() throws {
        let files = DatabaseFiles(folder: try TestFolder())
        let process = try files.open()
        try process.add("a")
        let copied = try process.coordinator.checkpoint()
        #expect(copied.logFrames == copied.copiedFrames && copied.logFrames > 0)
        var names: Set<UInt64> = []
        for _ in 0..<3 {
            // A connection with a small cache writes pages to the log before it commits. The first connection restarts
            // the log. Each later connection chooses a new random log name, because the log has no committed frame.
            var options = ConnectionOptions(path: files.path)
            options.cacheKilobytes = 16
            let writer = try Connection(options)
            try writer.run("BEGIN IMMEDIATE")
            for key in 1_000..<1_100 {
                let values = "\(key), hex(zeroblob(4000)), 0, 0"
                try writer.run("INSERT INTO Note (_key, text, batch, weight) VALUES (\(values))")
            }
            names.insert(try #require(writer.fileHeader()?.logNames?.current))
            // Another process reads while the write is open. The writer has not recorded its log name in the lock file.
            try process.refresh()
            #expect(try process.texts == ["a"])
            try writer.run("ROLLBACK")
            writer.close()
        }
        #expect(names.count == 3)
        try process.add("b")
        #expect(try process.texts == ["a", "b"])
        #expect(files.reports.all.isEmpty)
    }

    // MARK: Closed files

    @Test("a closed file is complete without its log, and the log is empty D10")
    func closed() throws {
        let (files, backup) = try makeFiles(usesWriteCopy: false)
        #expect(files.logBytes == 0)
        let alone = DatabaseFiles(folder: files.folder, name: "backup.realm")
        #expect(!StoreFiles.exists(backup + "-wal"))
        try alone.expect(Self.old)
    }

    @Test("a reader that closes the file of a killed process empties the log too D12")
    func closedByReader() throws {
        let (files, _) = try makeFiles(usesWriteCopy: false)
        let process = try files.open()
        try process.add("new 0")
        let killed = try files.afterKill()
        #expect(killed.logBytes > 0)
        #expect(try killed.open().texts == Self.old + ["new 0"])
        #expect(killed.logBytes == 0)
    }

    @Test(
        "a backup that is copied over a closed file is opened as it is D20", arguments: removableFileCombinations,
        [false, true])
    func betweenRuns(_ removed: [String], usesWriteCopy: Bool) throws {
        let (files, backup) = try makeFiles(usesWriteCopy: usesWriteCopy)
        try files.run(adding: 3, "new")
        try files.overwrite(with: backup)
        files.remove(removed)
        try files.expect(Self.old)
        try files.expect(Self.old + ["on"], "opened again")
        #expect(files.reports.all == [])
    }

    // MARK: After a kill

    @Test("the log of a killed process is read when the file is opened D11")
    func killed() throws {
        let (files, _) = try makeFiles(usesWriteCopy: false)
        let process = try files.open()
        for number in 0..<3 { try process.add("new \(number)") }
        let killed = try files.afterKill()
        try killed.expect(Self.all)
        #expect(killed.reports.all == [] && SetAsideLogs.all(of: killed.path) == [])
        let alone = try files.afterKill()
        alone.remove(["-wal", "-shm", ".lock"])
        try alone.expect(Self.old, "without its log the file is valid, but older")
    }

    @Test(
        "after a kill, a backup copied over the file is opened as it is, and the old log is set aside D20 D21",
        arguments: removableFileCombinations, [false, true])
    func afterKill(_ removed: [String], usesWriteCopy: Bool) throws {
        let (files, backup) = try makeFiles(usesWriteCopy: usesWriteCopy)
        let process = try files.open()
        for number in 0..<3 { try process.add("new \(number)") }
        try process.coordinator.checkpoint()
        try process.add("newest")
        let killed = try files.afterKill()
        let log = FileManager.default.contents(atPath: killed.path + "-wal")
        try killed.overwrite(with: backup)
        killed.remove(removed)
        try killed.expect(Self.old)
        let aside = SetAsideLogs.all(of: killed.path)
        if removed.contains("-wal") {
            #expect(aside == [] && killed.reports.all == [])
        } else {
            #expect(aside.map { FileManager.default.contents(atPath: $0) } == [log])
            #expect(killed.reports.all.count == 1 && killed.reports.all[0].contains(aside[0]))
        }
        try killed.expect(Self.old + ["on"], "opened again")
        #expect(SetAsideLogs.all(of: killed.path) == aside)
        #expect(try StoreRegistry.remove(VirtualProcess.options(killed.path)))
        #expect(SetAsideLogs.all(of: killed.path) == [], "set-aside logs are deleted with the file")
    }

    @Test(
        "a checkpoint does not write to a backup that is copied over the file at the beginning of the checkpoint",
        arguments: [false, true])
    func duringCheckpoint(usesWriteCopy: Bool) throws {
        let (files, backup) = try makeFiles(usesWriteCopy: usesWriteCopy)
        let process = try VirtualProcess(files.path) {
            $0.environment.onYield = { point in
                guard case .insideCheckpoint = point else { return }
                try? files.overwrite(with: backup)
            }
        }
        try process.refresh()
        for number in 0..<30 { try process.add("new \(number)") }
        process.handle = nil
        #expect(engineError { try process.coordinator.checkpoint() }?.code == .fileReplaced)
        #expect(files.bytes == FileManager.default.contents(atPath: backup))
        #expect(engineError { try process.add("refused") }?.code == .fileReplaced)
        try files.afterKill().expect(Self.old)
    }

    @Test("a set-aside log does not overwrite an earlier set-aside log D21")
    func severalLogs() throws {
        let (files, backup) = try makeFiles(usesWriteCopy: false)
        for round in 1...3 {
            let process = try files.open()
            try process.add("new")
            let killed = try files.afterKill()
            process.handle = nil
            for suffix in ["-wal", "-shm"] { try files.overwrite(suffix, with: killed.path + suffix) }
            try files.overwrite(with: backup)
            _ = try? process.add("refused")
            #expect(SetAsideLogs.all(of: files.path).count == round)
        }
        try files.expect(Self.old)
    }

    @Test("a kill at the beginning of a log loses no commit and sets no log aside D11")
    func killedAtBeginning() throws {
        let folder = try TestFolder()
        let vfs = HookVFS()
        let files = DatabaseFiles(folder: folder)
        try files.run(adding: 5, "old")
        // The checkpoint below copies the whole log, so the next commit restarts the log.
        let process = try VirtualProcess(files.path) { $0.environment.vfsName = vfs.name }
        try process.refresh()
        try process.add("new 0")
        process.handle = nil
        #expect(try process.coordinator.checkpoint().copiedFrames > 0)
        for (index, isBeforeLogName) in [true, false].enumerated() {
            let images = Mutex<[DatabaseFiles]>([])
            vfs.onEach(.write) { event in
                guard event.role == (isBeforeLogName ? .main : .wal), event.offset == (isBeforeLogName ? 72 : 0)
                else { return }
                if let image = try? files.afterKill() { images.withLock { $0.append(image) } }
            }
            try process.add("new \(index + 1)")
            vfs.removeHook(.write)
            process.handle = nil
            let image = try #require(images.withLock { $0.first })
            #expect(try image.open().texts == Self.old + (0...index).map { "new \($0)" })
            #expect(SetAsideLogs.all(of: image.path) == [] && image.reports.all == [])
            try process.coordinator.checkpoint()
        }
    }

    @Test("a read-only process rejects a log that does not belong to the file, and changes nothing D22")
    func readOnly() throws {
        let (files, backup) = try makeFiles(usesWriteCopy: false)
        let process = try files.open()
        try process.add("new")
        let killed = try files.afterKill()
        try killed.overwrite(with: backup)
        let before = try FileManager.default.contentsOfDirectory(atPath: killed.folder.url.path).sorted()
        let error = engineError { _ = try VirtualProcess(killed.path) { $0.isReadOnly = true } }
        #expect(error?.code == .fileReplaced && error?.message.contains("open the file once for writing") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: killed.folder.url.path).sorted() == before)
    }

    // MARK: Open files

    /// The state of the process when the file is overwritten.
    enum OpenState: CaseIterable { case opened, wrote, checkpointed, logRestarted }

    @Test(
        "the next write rejects a file that was overwritten while it was open, and does not change it D23",
        arguments: OpenState.allCases, [false, true])
    func overwrittenWhileOpen(_ state: OpenState, usesWriteCopy: Bool) throws {
        let (files, backup) = try makeFiles(usesWriteCopy: usesWriteCopy)
        let process = try openedProcess(files, state)
        let other = state == .wrote ? try files.open() : nil
        _ = try other?.texts
        try files.overwrite(with: backup)
        let error = engineError { try process.add("refused") }
        #expect(error?.code == .fileReplaced && error?.message.contains("copied over") == true)
        #expect(files.bytes == FileManager.default.contents(atPath: backup))
        #expect(engineError { try process.coordinator.checkpoint() }?.code == .fileReplaced)
        #expect(engineError { try process.refresh() }?.code == .fileReplaced, "the file is rejected until it is closed")
        #expect(SetAsideLogs.all(of: files.path).count == (state == .opened ? 0 : 1))
        if let other {
            #expect(engineError { try other.add("refused") }?.code == .fileReplaced)
            #expect(SetAsideLogs.all(of: files.path).count == 1)
        }
        #expect(files.bytes == FileManager.default.contents(atPath: backup))
        #expect(files.reports.all.contains { $0.contains("copied over") })
    }

    /// Opens the file, and brings the process into a state.
    private func openedProcess(_ files: DatabaseFiles, _ state: OpenState) throws -> VirtualProcess {
        if state == .opened { try files.run(adding: 1, "between") }
        let process = try files.open()
        _ = try process.texts
        guard state != .opened else { return process }
        for number in 0..<3 { try process.add("new \(number)") }
        guard state != .wrote else { return process }
        process.handle = nil
        try process.coordinator.checkpoint()
        if state == .logRestarted { try process.add("newest") }
        return process
    }

    @Test("the next refresh rejects a file that was overwritten while it was open D23")
    func overwrittenUnderReader() throws {
        for state in [OpenState.opened, .wrote] {
            let (files, backup) = try makeFiles(usesWriteCopy: true)
            let process = try openedProcess(files, state)
            process.handle = nil
            try files.overwrite(with: backup)
            #expect(engineError { try process.refresh() }?.code == .fileReplaced)
        }
    }

    @Test("closing an overwritten file does not write to it D23", arguments: removableFileCombinations)
    func closedAfterOverwriting(_ removed: [String]) throws {
        let (files, backup) = try makeFiles(usesWriteCopy: true)
        do {
            let process = try openedProcess(files, .wrote)
            process.handle = nil
            try files.overwrite(with: backup)
            files.remove(removed)
        }
        #expect(files.bytes == FileManager.default.contents(atPath: backup))
        try files.expect(Self.old)
    }

    @Test("an open file that was replaced by a rename is rejected, and its log is set aside D24")
    func replacedWhileOpen() throws {
        let (files, backup) = try makeFiles(usesWriteCopy: false)
        let process = try openedProcess(files, .wrote)
        #expect(rename(backup, files.path) == 0)
        #expect(engineError { try process.add("refused") }?.code == .fileNotFound)
        #expect(SetAsideLogs.all(of: files.path).count == 1)
        #expect(engineError { try process.add("refused") }?.code == .fileNotFound)
        #expect(SetAsideLogs.all(of: files.path).count == 1)
        try files.expect(Self.old)
    }

    @Test(
        "deleting the log of an open file loses no commit, and the next write fails D25"
    )
    func logDeleted() throws {
        for suffixes in [["-wal"], ["-wal", "-shm"]] {
            let (files, _) = try makeFiles(usesWriteCopy: false)
            do {
                let process = try openedProcess(files, .wrote)
                files.remove(suffixes)
                let error = engineError { try process.add("refused") }
                #expect(error?.code == .fileReplaced && error?.message.contains("log") == true)
                #expect(engineError { try process.add("refused") }?.code == .fileReplaced)
            }
            try files.expect(Self.all)
        }
    }

    @Test("a program that writes no log name into the file, such as plain SQLite, may write to an open file D27")
    func writtenByOther() throws {
        let (files, _) = try makeFiles(usesWriteCopy: false)
        let process = try files.open()
        _ = try process.texts
        var options = ConnectionOptions(path: files.path)
        options.recordsLogName = false
        let other = try Connection(options)
        try other.execute("DELETE FROM Note WHERE text = 'old 0'")
        other.close()
        process.handle = nil
        try process.refresh()
        try process.add("new")
        #expect(try process.texts == Self.old.dropFirst() + ["new"])
        try files.afterKill().expect(Self.old.dropFirst() + ["new"])
    }

    // MARK: End of the process

    // This property is written once. It is read when the process ends and no other thread runs.
    nonisolated(unsafe) private static var kept: (path: String, process: VirtualProcess)?

    @Test("a process that exits empties the logs of its open files D10")
    func exits() async {
        await #expect(processExitsWith: .success) {
            // This function is registered before the exit function of the runtime, so `exit` calls it after that
            // function.
            atexit {
                let path = RestoreTests.kept?.path ?? ""
                _exit(StoreFiles.exists(path) && StoreFiles.logBytes(path) == 0 ? 0 : 1)
            }
            let folder = try TestFolder()
            let options = VirtualProcess.options(folder.path()) { $0.environment.writeTimeoutMilliseconds = 1_000 }
            let process = VirtualProcess(try StoreRegistry.coordinator(options))
            try process.add("a")
            guard StoreFiles.logBytes(folder.path()) > 0 else { _exit(2) }
            RestoreTests.kept = (folder.path(), process)
            withExtendedLifetime(folder) { exit(0) }
        }
    }
}
