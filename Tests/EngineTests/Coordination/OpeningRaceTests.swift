import Foundation
import MartletSQLite
import Synchronization
import Testing

@testable import MartletEngine

/// Tests in which other processes move, exchange or delete a file while a process opens it.
@Suite("files that are changed while they are opened")
struct OpeningRaceTests {
    /// Opens the file. `change` runs when this process reads the clock for the first time. `WriteLock.acquire` reads
    /// the clock before it waits for the lock. This simulates a process that holds the lock and makes the change.
    private func open(_ files: DatabaseFiles, changing change: @escaping @Sendable () throws -> Void) throws
        -> VirtualProcess
    {
        let isArmed = Mutex(true)
        let reports = files.reports
        return try VirtualProcess(files.path) { options in
            options.environment.log = { reports.add($0) }
            options.environment.now = {
                let isFirst = isArmed.withLock { isArmed in
                    defer { isArmed = false }
                    return isArmed
                }
                if isFirst {
                    do { try change() } catch { Issue.record(error) }
                }
                return DispatchTime.now().uptimeNanoseconds
            }
        }
    }

    /// Creates a file named `name`. It contains one note, whose text is `name` followed by " 0".
    private func makeFile(_ folder: TestFolder, _ name: String) throws -> DatabaseFiles {
        let files = DatabaseFiles(folder: folder, name: name)
        try files.run(adding: 1, name)
        return files
    }

    @Test("a process that opens a file does not set aside the log of the file that replaced it D24 N141")
    func logOfReplacement() throws {
        let folder = try TestFolder()
        nonisolated(unsafe) var other: VirtualProcess?
        let files = try makeFile(folder, "test.realm")
        let new = try makeFile(folder, "new.realm")
        // The log beside the first file does not belong to that file. This makes the process that opens the file
        // acquire the lock.
        let foreign = try makeFile(folder, "foreign.realm").open()
        try foreign.add("foreign")
        try FileManager.default.removeItem(atPath: files.path + "-wal")
        try FileManager.default.copyItem(atPath: folder.path("foreign.realm-wal"), toPath: files.path + "-wal")
        let process = try open(files) {
            rename(new.path, files.path)
            let opened = try files.open()
            for text in ["1", "2"] { try opened.add(text) }
            other = opened
        }
        #expect(try process.texts == ["new.realm 0", "1", "2"])
        try other?.add("3")
        #expect(try files.afterKill().open().texts == ["new.realm 0", "1", "2", "3"])
        #expect(SetAsideLogs.all(of: files.path).count == 1)
    }

    enum Change: CaseIterable { case exchanged, recreated, deleted }

    @Test(
        "a process that waits to create a database opens the file that is at the path when the wait ends D24 D73",
        arguments: Change.allCases)
    func emptyFile(_ change: Change) throws {
        let folder = try TestFolder()
        nonisolated(unsafe) var other: VirtualProcess?
        let files = DatabaseFiles(folder: folder)
        let new = try makeFile(folder, "new.realm")
        try Data().write(to: URL(fileURLWithPath: files.path))
        let process = try open(files) {
            if change == .exchanged { rename(new.path, files.path) } else { StoreFiles.remove(files.path) }
            guard change != .deleted else { return }
            let opened = try files.open()
            try opened.add("1")
            other = opened
        }
        let former = change == .exchanged ? ["new.realm 0"] : []
        #expect(try process.texts == former + (change == .deleted ? [] : ["1"]))
        try other?.add("2")
        try process.add("3")
        #expect(try process.texts == former + (change == .deleted ? ["3"] : ["1", "2", "3"]))
    }

    @Test("a process that waits to change types changes the file that is at the path when the wait ends D24")
    func schemaChange() throws {
        let folder = try TestFolder()
        let files = try makeFile(folder, "test.realm")
        let new = try makeFile(folder, "new.realm")
        let isArmed = Mutex(true)
        let process = try VirtualProcess(files.path, [VirtualProcess.note, "object Other\nproperty text String"]) {
            $0.environment.now = {
                let isFirst = isArmed.withLock { isArmed in
                    defer { isArmed = false }
                    return isArmed
                }
                if isFirst { rename(new.path, files.path) }
                return DispatchTime.now().uptimeNanoseconds
            }
        }
        #expect(try process.texts == ["new.realm 0"])
        #expect(try process.integer("SELECT count(*) FROM Other") == 0)
    }

    @Test(
        "creating a file at the path of an open file that was moved does not delete the former log D24 D26",
        arguments: [false, true])
    func createdAtPathOfMoved(usesSeed: Bool) throws {
        let folder = try TestFolder()
        let files = try makeFile(folder, "test.realm")
        let seed = try makeFile(folder, "seed.realm")
        let former = try files.open()
        for text in ["1", "2"] { try former.add(text) }
        let log = FileManager.default.contents(atPath: files.path + "-wal")
        let away = folder.path("away.realm")
        rename(files.path, away)
        let reports = files.reports
        do {
            let process = try VirtualProcess(files.path) {
                $0.environment.log = { reports.add($0) }
                if usesSeed { $0.seedPath = seed.path }
            }
            #expect(try process.texts == (usesSeed ? ["seed.realm 0"] : []))
            try process.add("new")
        }
        let aside = SetAsideLogs.all(of: files.path)
        #expect(aside.map { FileManager.default.contents(atPath: $0) } == [log])
        #expect(files.reports.all.count == 1 && files.reports.all[0].contains(aside.first ?? "?"))
        // The former file and the log that was set aside contain all commits.
        let killed = DatabaseFiles(folder: try TestFolder())
        try FileManager.default.copyItem(atPath: away, toPath: killed.path)
        try FileManager.default.copyItem(atPath: aside.first ?? "", toPath: killed.path + "-wal")
        #expect(try killed.open().texts == ["test.realm 0", "1", "2"])
    }

    @Test(
        "a file whose log was deleted or truncated while another process uses it cannot be opened D25 D29",
        arguments: [false, true])
    func logMissing(isTruncated: Bool) throws {
        let files = try makeFile(try TestFolder(), "test.realm")
        do {
            let process = try files.open()
            for text in ["1", "2"] { try process.add(text) }
            if isTruncated { truncate(files.path + "-wal", 0) } else { files.remove(["-wal"]) }
            for isReadOnly in [false, true] {
                let error = engineError { _ = try VirtualProcess(files.path) { $0.isReadOnly = isReadOnly } }
                #expect(error?.code == .fileReplaced && error?.message.contains("end that program") == true)
            }
        }
        try files.expect(["test.realm 0"] + (isTruncated ? [] : ["1", "2"]))
    }
}
