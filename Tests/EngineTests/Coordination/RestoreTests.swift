import CMartletTestVFS
import Foundation
import MartletSQLite
import Synchronization
import Testing

@testable import MartletEngine

/// Files of a database that are handled by other means than SQLite, as `cp`, `mv` and `rm` do.
struct FileSet {
    let folder: TestFolder
    var name = "test.realm"
    /// What the processes of the file reported.
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

    /// Adds notes in a run of its own, which ends by closing the file.
    func run(adding count: Int, _ text: String) throws {
        let process = try open()
        for number in 0..<count { try process.add("\(text) \(number)") }
    }

    /// As 'cp' does it: into the file that is there.
    func overwrite(_ suffix: String = "", with source: String) throws {
        try Data(contentsOf: URL(fileURLWithPath: source)).write(to: URL(fileURLWithPath: path + suffix))
    }

    /// What a kill leaves: the bytes of all files as they are now, in a folder of their own.
    func afterKill() throws -> FileSet {
        let copy = FileSet(folder: try TestFolder(), name: name)
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

    /// What the file holds for who opens it now; it must be whole and go on.
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

/// All that may be left beside a file or be removed with it.
let leftovers: [[String]] = [
    [], ["-wal"], ["-shm"], [".lock"], ["-wal", "-shm"], ["-wal", ".lock"], ["-shm", ".lock"],
    ["-wal", "-shm", ".lock"],
]

@Suite("restoring a backup")
struct RestoreTests {
    private static let old = (0..<5).map { "old \($0)" }
    private static let all = old + (0..<3).map { "new \($0)" }

    /// A file with five notes, and a backup of it: what is in the file alone, or what 'writeCopy' makes.
    private func makeFiles(copies: Bool) throws -> (files: FileSet, backup: String) {
        let files = FileSet(folder: try TestFolder())
        try files.run(adding: 5, "old")
        let backup = files.folder.path("backup.realm")
        if copies {
            try files.open().coordinator.writeCopy(to: backup)
        } else {
            try FileManager.default.copyItem(atPath: files.path, toPath: backup)
        }
        return (files, backup)
    }

    // MARK: Between runs

    @Test("D10 a closed file is whole by itself, and its log is empty")
    func closed() throws {
        let (files, backup) = try makeFiles(copies: false)
        #expect(files.logBytes == 0)
        let alone = FileSet(folder: files.folder, name: "backup.realm")
        #expect(!StoreFiles.exists(backup + "-wal"))
        try alone.expect(Self.old)
    }

    @Test("D12 a file is empty of its log too when its last user only read what a killed process left")
    func closedByReader() throws {
        let (files, _) = try makeFiles(copies: false)
        let process = try files.open()
        try process.add("new 0")
        let killed = try files.afterKill()
        #expect(killed.logBytes > 0)
        #expect(try killed.open().texts == Self.old + ["new 0"])
        #expect(killed.logBytes == 0)
    }

    @Test("D20 a backup that is copied over a closed file is what is read", arguments: leftovers, [false, true])
    func betweenRuns(_ removed: [String], copies: Bool) throws {
        let (files, backup) = try makeFiles(copies: copies)
        try files.run(adding: 3, "new")
        try files.overwrite(with: backup)
        files.remove(removed)
        try files.expect(Self.old)
        try files.expect(Self.old + ["on"], "and again")
        #expect(files.reports.all == [])
    }

    // MARK: After a kill

    @Test("D11 a killed process leaves a log, which is needed")
    func killed() throws {
        let (files, _) = try makeFiles(copies: false)
        let process = try files.open()
        for number in 0..<3 { try process.add("new \(number)") }
        let killed = try files.afterKill()
        try killed.expect(Self.all)
        #expect(killed.reports.all == [] && SetAsideLogs.all(of: killed.path) == [])
        let alone = try files.afterKill()
        alone.remove(["-wal", "-shm", ".lock"])
        try alone.expect(Self.old, "without its log the file is whole, and older")
    }

    @Test(
        "D20 D21 a backup that is copied over the file of a killed process is what is read, and the log is set aside",
        arguments: leftovers, [false, true])
    func afterKill(_ removed: [String], copies: Bool) throws {
        let (files, backup) = try makeFiles(copies: copies)
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
        try killed.expect(Self.old + ["on"], "and again")
        #expect(SetAsideLogs.all(of: killed.path) == aside)
        #expect(try StoreRegistry.remove(VirtualProcess.options(killed.path)))
        #expect(SetAsideLogs.all(of: killed.path) == [], "they are deleted with the file")
    }

    @Test("a backup that is copied over a file while a checkpoint begins is not written to", arguments: [false, true])
    func duringCheckpoint(copies: Bool) throws {
        let (files, backup) = try makeFiles(copies: copies)
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

    @Test("D21 of several logs that are set aside none takes the place of another")
    func severalLogs() throws {
        let (files, backup) = try makeFiles(copies: false)
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

    @Test("D11 a kill at the beginning of a log loses nothing and sets nothing aside")
    func killedAtBeginning() throws {
        let folder = try TestFolder()
        let vfs = HookVFS()
        let files = FileSet(folder: folder)
        try files.run(adding: 5, "old")
        // The log of a process that goes on is copied in full, so that the next commit begins another.
        let process = try VirtualProcess(files.path) { $0.environment.vfsName = vfs.name }
        try process.refresh()
        try process.add("new 0")
        process.handle = nil
        #expect(try process.coordinator.checkpoint().copiedFrames > 0)
        for (index, isBeforeMark) in [true, false].enumerated() {
            let images = Mutex<[FileSet]>([])
            vfs.onEach(.write) { event in
                guard event.role == (isBeforeMark ? .main : .wal), event.offset == (isBeforeMark ? 72 : 0)
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

    @Test("D22 a process that only reads refuses a log that does not fit, and changes nothing")
    func readOnly() throws {
        let (files, backup) = try makeFiles(copies: false)
        let process = try files.open()
        try process.add("new")
        let killed = try files.afterKill()
        try killed.overwrite(with: backup)
        let before = try FileManager.default.contentsOfDirectory(atPath: killed.folder.url.path).sorted()
        let error = engineError { _ = try VirtualProcess(killed.path) { $0.isReadOnly = true } }
        #expect(error?.code == .fileReplaced && error?.message.contains("open the file once for writing") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: killed.folder.url.path).sorted() == before)
    }

    // MARK: While the file is open

    /// What the process has done before the file is overwritten.
    enum Progress: CaseIterable { case opened, wrote, checkpointed, logBegunAnew }

    @Test(
        "D23 a file that is overwritten while it is open is refused by the next write, and left as it is",
        arguments: Progress.allCases, [false, true])
    func overwrittenWhileOpen(_ progress: Progress, copies: Bool) throws {
        let (files, backup) = try makeFiles(copies: copies)
        let process = try makeProgress(files, progress)
        let other = progress == .wrote ? try files.open() : nil
        _ = try other?.texts
        try files.overwrite(with: backup)
        let error = engineError { try process.add("refused") }
        #expect(error?.code == .fileReplaced && error?.message.contains("copied over") == true)
        #expect(files.bytes == FileManager.default.contents(atPath: backup))
        #expect(engineError { try process.coordinator.checkpoint() }?.code == .fileReplaced)
        #expect(engineError { try process.refresh() }?.code == .fileReplaced, "it stays so until it is released")
        #expect(SetAsideLogs.all(of: files.path).count == (progress == .opened ? 0 : 1))
        if let other {
            #expect(engineError { try other.add("refused") }?.code == .fileReplaced)
            #expect(SetAsideLogs.all(of: files.path).count == 1)
        }
        #expect(files.bytes == FileManager.default.contents(atPath: backup))
        #expect(files.reports.all.contains { $0.contains("copied over") })
    }

    private func makeProgress(_ files: FileSet, _ progress: Progress) throws -> VirtualProcess {
        if progress == .opened { try files.run(adding: 1, "between") }
        let process = try files.open()
        _ = try process.texts
        guard progress != .opened else { return process }
        for number in 0..<3 { try process.add("new \(number)") }
        guard progress != .wrote else { return process }
        process.handle = nil
        try process.coordinator.checkpoint()
        if progress == .logBegunAnew { try process.add("newest") }
        return process
    }

    @Test("D23 a file that is overwritten while it is open is refused by the next look at the newest version")
    func overwrittenUnderReader() throws {
        for progress in [Progress.opened, .wrote] {
            let (files, backup) = try makeFiles(copies: true)
            let process = try makeProgress(files, progress)
            process.handle = nil
            try files.overwrite(with: backup)
            #expect(engineError { try process.refresh() }?.code == .fileReplaced)
        }
    }

    @Test("D23 closing a file that was overwritten writes nothing to it", arguments: leftovers)
    func closedAfterOverwriting(_ removed: [String]) throws {
        let (files, backup) = try makeFiles(copies: true)
        do {
            let process = try makeProgress(files, .wrote)
            process.handle = nil
            try files.overwrite(with: backup)
            files.remove(removed)
        }
        #expect(files.bytes == FileManager.default.contents(atPath: backup))
        try files.expect(Self.old)
    }

    @Test("D24 a file in whose place another is moved while it is open is refused, and its log set aside")
    func replacedWhileOpen() throws {
        let (files, backup) = try makeFiles(copies: false)
        let process = try makeProgress(files, .wrote)
        #expect(rename(backup, files.path) == 0)
        #expect(engineError { try process.add("refused") }?.code == .fileNotFound)
        #expect(SetAsideLogs.all(of: files.path).count == 1)
        #expect(engineError { try process.add("refused") }?.code == .fileNotFound)
        #expect(SetAsideLogs.all(of: files.path).count == 1)
        try files.expect(Self.old)
    }

    @Test(
        "D25 a log that is deleted while the file is open loses nothing that was committed, and the next write is refused"
    )
    func logDeleted() throws {
        for suffixes in [["-wal"], ["-wal", "-shm"]] {
            let (files, _) = try makeFiles(copies: false)
            do {
                let process = try makeProgress(files, .wrote)
                files.remove(suffixes)
                let error = engineError { try process.add("refused") }
                #expect(error?.code == .fileReplaced && error?.message.contains("log") == true)
                #expect(engineError { try process.add("refused") }?.code == .fileReplaced)
            }
            try files.expect(Self.all)
        }
    }

    @Test("D27 a program that marks no logs may write to a file that is open")
    func writtenByOther() throws {
        let (files, _) = try makeFiles(copies: false)
        let process = try files.open()
        _ = try process.texts
        var options = ConnectionOptions(path: files.path)
        options.marksLog = false
        let other = try Connection(options)
        try other.execute("DELETE FROM Note WHERE text = 'old 0'")
        other.close()
        process.handle = nil
        try process.refresh()
        try process.add("new")
        #expect(try process.texts == Self.old.dropFirst() + ["new"])
        try files.afterKill().expect(Self.old.dropFirst() + ["new"])
    }

    // MARK: When the program ends

    // Given to the end of the program, when nobody else runs.
    nonisolated(unsafe) private static var kept: (path: String, process: VirtualProcess)?

    @Test("D10 the end of the program empties the logs of files that are still open")
    func exits() async {
        await #expect(processExitsWith: .success) {
            // Called after the runtime's own.
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
