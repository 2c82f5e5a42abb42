import Foundation
import MartletSQLite
import MartletValues
import ModelTesting
import Testing

/// A worker process that executes text commands, one at a time (see `CommandLoop`).
final class CommandProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var unread = Data()

    init(_ executable: URL) throws {
        process.executableURL = executable
        process.arguments = ["commands"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit { kill() }

    /// Sends a command and returns the answer.
    @discardableResult
    func run(_ command: String) throws -> String {
        try send(command)
        return try answer(command)
    }

    func send(_ command: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
    }

    /// Waits for the answer to a command that was sent with `send`.
    func answer(_ command: String) throws -> String {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread = Data(unread[(end + 1)...]) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            let bytes = output.fileHandleForReading.availableData
            guard !bytes.isEmpty else { throw Violation("the process ended at the command '\(command)'") }
            unread += bytes
        }
    }

    func kill() {
        guard process.isRunning else { return }
        killWithoutWaiting()
        process.waitUntilExit()
    }

    /// Closes the input of the process, which makes the process exit, and waits for its end.
    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Kills the process, but does not wait for its end: `waitUntilExit` would also wait for the end of all forked
    /// children.
    func killWithoutWaiting() { Foundation.kill(process.processIdentifier, SIGKILL) }
}

/// Each test changes the files of a database that several processes have open. Acknowledged commits must remain, apart
/// from commits that the change itself destroys. A file must never contain commits of another file.
@Suite("files that are changed while several processes have them open")
final class FileReplacementTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-replace-\(UUID().uuidString)")
    private let executable: URL
    private var path: String { folder.appending(path: "app.realm").path }

    init() throws {
        executable = try #require(ChaosTests.worker(), "build the whole package first: swift build --build-tests")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Creates a file with one object, or with 2,001 objects if `isLarge`, and closes it.
    private func create(_ name: String, _ content: String, isLarge: Bool = false) throws {
        let process = try CommandProcess(executable)
        try process.run("open \(folder.appending(path: name).path)")
        #expect(try process.run("write 0 \(content)") == "ok")
        if isLarge { #expect(try process.run("fill \(content)") == "ok") }
        process.end()
    }

    private func opened() throws -> CommandProcess {
        let process = try CommandProcess(executable)
        let answer = try process.run("open \(path)")
        guard answer == "ok" else { throw Violation("the file cannot be opened: \(answer)") }
        return process
    }

    /// Moves the file `new.realm` to `path`, without the log, index and lock file of `new.realm`.
    private func replace() throws {
        for suffix in ["-wal", "-shm", ".lock"] { unlink(folder.appending(path: "new.realm").path + suffix) }
        #expect(rename(folder.appending(path: "new.realm").path, path) == 0)
    }

    private func integrity() throws -> SQLValue? {
        let connection = try Connection(ConnectionOptions(path: path))
        defer { connection.close() }
        return try connection.value("PRAGMA integrity_check")
    }

    @Test("a process whose file was replaced does not touch the log of the new file D24", arguments: [false, true])
    func replaced(isLogEmpty: Bool) throws {
        try create("app.realm", "former")
        try create("new.realm", "new")
        let former = try opened()
        if !isLogEmpty { try former.run("write 1 former") }
        try replace()
        let new = try opened()
        #expect(try new.run("write 2 new") == "ok")
        #expect(try former.run("write 3 former") == "error fileNotFound")
        #expect(try former.run("close") == "ok")
        #expect(try new.run("write 4 new") == "ok")
        new.kill()
        #expect(try opened().run("all") == "0:new 2:new 4:new")
        #expect(try integrity() == .text("ok"))
    }

    @Test("a file that is moved away and back is not combined with the log of the file that replaced it D24")
    func replacedTwice() throws {
        try create("app.realm", "former")
        try create("new.realm", "new")
        let former = try opened()
        let away = folder.appending(path: "away.realm").path
        #expect(rename(path, away) == 0)
        try replace()
        let new = try opened()
        #expect(try new.run("write 2 new") == "ok")
        #expect(rename(away, path) == 0)
        let third = try opened()
        #expect(try third.run("write 3 former") == "ok")
        #expect(try former.run("write 4 former") == "error fileReplaced")
        #expect(try new.run("write 5 new") == "error fileNotFound")
        for process in [former, new, third] { process.kill() }
        #expect(try opened().run("all") == "0:former 3:former")
    }

    @Test("when the index of the log is deleted, processes with different indexes do not both write D28")
    func indexDeleted() throws {
        try create("app.realm", "a")
        let first = try opened()
        #expect(try first.run("write 1 first") == "ok")
        unlink(path + "-shm")
        let second = try opened()
        #expect(try second.run("write 2 second") == "ok")
        #expect(try second.run("write 3 second") == "ok")
        #expect(try first.run("write 4 first") == "error fileReplaced")
        #expect(try first.run("close") == "ok")
        #expect(try second.run("close") == "ok")
        #expect(try opened().run("all") == "0:a 1:first 2:second 3:second")
    }

    @Test("the log of a plain SQLite commit is set aside if a process opens the file before the next write D21 D27")
    func writtenByOther() throws {
        try create("app.realm", "a")
        let first = try opened()
        var options = ConnectionOptions(path: path)
        options.recordsLogName = false
        let plain = try Connection(options)
        try plain.execute(#"UPDATE "IntKey" SET "content" = 'b' WHERE "id" = 0"#)
        plain.close()
        let second = try opened()
        #expect(try second.run("all") == "0:a")
        #expect(FileManager.default.fileExists(atPath: path + "-wal.aside-1"))
        #expect(try second.run("write 1 second") == "ok")
        #expect(try first.run("write 2 first") == "error fileReplaced")
        #expect(try second.run("all") == "0:a 1:second")
    }

    @Test("if a file was replaced and its lock file remained, all programs that open the new file use one log D20 D24")
    func leftLockFile() throws {
        try create("app.realm", "former")
        try create("other.realm", "other")
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        try FileManager.default.copyItem(atPath: folder.appending(path: "other.realm").path, toPath: path)
        let first = try opened()
        #expect(try first.run("all") == "0:other")
        let second = try opened()
        #expect(try first.run("write 1 first") == "ok")
        let third = try opened()
        #expect(try third.run("write 2 third") == "ok")
        #expect(try second.run("write 3 second") == "ok")
        #expect(try first.run("write 4 first") == "ok")
        for process in [first, second, third] { process.kill() }
        #expect(try opened().run("all") == "0:other 1:first 2:third 3:second 4:first")
    }

    @Test("processes do not adopt a backup with log and index that is copied over the file that they have open D23")
    func backupWithLog() throws {
        try create("app.realm", "a")
        let first = try opened()
        let second = try opened()
        #expect(try first.run("write 1 first") == "ok")
        let suffixes = ["", "-wal", "-shm"]
        let backup = try suffixes.map { try Data(contentsOf: URL(filePath: path + $0)) }
        #expect(try first.run("write 2 first") == "ok")
        #expect(try second.run("write 3 second") == "ok")
        for (suffix, bytes) in zip(suffixes, backup) { try bytes.write(to: URL(filePath: path + suffix)) }
        #expect(try first.run("write 4 first") == "error fileReplaced")
        #expect(try second.run("write 5 second") == "error fileReplaced")
        for process in [first, second] { process.kill() }
        #expect(try opened().run("all") == "0:a 1:first")
    }

    @Test("the lock of a process that is killed during a write is released, even if a forked child lives N141 N144")
    func killedInWrite() throws {
        try create("app.realm", "a")
        let writer = try opened()
        #expect(try writer.run("begin") == "ok")
        let child = try #require(Int32(try writer.run("fork")))
        defer { Foundation.kill(child, SIGKILL) }
        writer.killWithoutWaiting()
        #expect(try opened().run("write 1 b") == "ok")
    }

    private func move(_ from: String, _ to: String) {
        #expect(rename(folder.appending(path: from).path, folder.appending(path: to).path) == 0)
    }

    @Test(
        "a file is not read with the index of the file that was at its path before D22 D24", arguments: [false, true])
    func replacedByLarger(writesBefore: Bool) throws {
        try create("app.realm", "former")
        try create("new.realm", "new", isLarge: true)
        let former = try opened()
        if writesBefore { #expect(try former.run("write 1 former") == "ok") }
        try replace()
        let reader = try CommandProcess(executable)
        // A read-only process does not set aside the log with commits of the former file, so opening fails. If the log
        // has no such commits, opening fails because of the index of the former file.
        #expect(try reader.run("read \(path)") == "error fileReplaced")
        #expect(try reader.run("version \(path)") == "error fileReplaced")
        let new = try opened()
        let answer = try new.run("write 2 new")
        #expect(answer == "ok")
        #expect(try reader.run("read \(path)") == "ok")
        #expect(try reader.run("version \(path)") == "0")
        #expect(try reader.run("count") == "2002")
        #expect(try former.run("write 3 former") == "error fileNotFound")
        for process in [former, new, reader] { process.kill() }
        #expect(try opened().run("count") == "2002")
        #expect(try integrity() == .text("ok"))
    }

    @Test(
        "if an open file is moved over another open file, only new processes can write D24", arguments: [false, true])
    func movedWhileOpen(isLarge: Bool) throws {
        try create("app.realm", "former", isLarge: !isLarge)
        try create("other.realm", "other", isLarge: isLarge)
        let former = try opened()
        let other = try CommandProcess(executable)
        #expect(try other.run("open \(folder.appending(path: "other.realm").path)") == "ok")
        move("other.realm", "app.realm")
        let new = try opened()
        #expect(try new.run("write 1 other") == "ok")
        #expect(try former.run("write 2 former") == "error fileNotFound")
        #expect(try other.run("write 3 other") == "error fileNotFound")
        for process in [former, other] { #expect(try process.run("close") == "ok") }
        #expect(try new.run("write 4 other") == "ok")
        for process in [former, other, new] { process.kill() }
        #expect(try opened().run("count") == (isLarge ? "2003" : "3"))
        #expect(try integrity() == .text("ok"))
    }

    @Test(
        "a file that was moved away, replaced and moved back can be written while the replacement is in use D24",
        arguments: [false, true])
    func replacedTwiceWithoutLog(isLarge: Bool) throws {
        try create("app.realm", "former", isLarge: isLarge)
        try create("new.realm", "new", isLarge: !isLarge)
        let former = try opened()
        move("app.realm", "away.realm")
        try replace()
        let new = try opened()
        move("app.realm", "new.realm")
        move("away.realm", "app.realm")
        let third = try opened()
        #expect(try third.run("write 3 former") == "ok")
        #expect(["ok", "error fileReplaced"].contains(try former.run("write 3 former")))
        #expect(try new.run("write 5 new") == "error fileNotFound")
        #expect(try third.run("write 4 former") == "ok")
        for process in [former, new, third] { process.kill() }
        #expect(try opened().run("count") == (isLarge ? "2003" : "3"))
        #expect(try integrity() == .text("ok"))
    }

    @Test("a process that has a file open can also open the file that replaced it D24")
    func replacedInOneProcess() throws {
        try create("app.realm", "former")
        try create("new.realm", "new", isLarge: true)
        let former = try opened()
        let both = try opened()
        #expect(try both.run("keep") == "ok")
        try replace()
        #expect(try both.run("read \(path)") == "error fileReplaced")
        // The failed opening must not have released the locks that `both` holds on the former file.
        #expect(try former.run("all") == "0:former")
        #expect(try both.run("open \(path)") == "ok")
        #expect(try both.run("write 2 new") == "ok")
        #expect(try both.run("count") == "2002")
        #expect(try former.run("write 3 former") == "error fileNotFound")
    }

    @Test("a new file does not read the log and index of a deleted file D24 D26", arguments: [false, true])
    func createdAgain(writesBefore: Bool) throws {
        try create("app.realm", "former", isLarge: true)
        let former = try opened()
        if writesBefore { #expect(try former.run("write 1 former") == "ok") }
        unlink(path)
        let new = try opened()
        #expect(try new.run("write 2 new") == "ok")
        #expect(try former.run("write 3 former") == "error fileNotFound")
        for process in [former, new] { process.kill() }
        #expect(try opened().run("all") == "2:new")
    }

    @Test("a commit is not lost when another lock file is moved over the lock file during the write D40")
    func lockReplaced() throws {
        try create("app.realm", "a")
        try create("other.realm", "b")
        let writer = try opened()
        #expect(try writer.run("write 1 a") == "ok")
        #expect(try writer.run("begin") == "ok")
        #expect(try writer.run("add 2 a") == "ok")
        move("other.realm.lock", "app.realm.lock")
        let other = try opened()
        #expect(try other.run("all") == "0:a 1:a")
        try other.send("write 3 a")
        let commit = try writer.run("commit")
        let write = try other.answer("write 3 a")
        #expect(commit == "ok" && (write == "ok" || write == "error busy"))
        for process in [writer, other] { process.kill() }
        #expect(try opened().run("all") == "0:a 1:a 2:a" + (write == "ok" ? " 3:a" : ""))
    }

    @Test("a forked child does not keep the lock of its parent if no file descriptors are available N141 N144")
    func forkedWithoutDescriptors() throws {
        try create("app.realm", "a")
        let writer = try opened()
        #expect(try writer.run("begin") == "ok")
        #expect(try writer.run("exhaust") == "ok")
        let child = try #require(Int32(try writer.run("fork")))
        defer { Foundation.kill(child, SIGKILL) }
        writer.killWithoutWaiting()
        #expect(try opened().run("write 1 b") == "ok")
    }

    // MARK: Random changes

    private enum Change: CaseIterable {
        case deleteIndex, deleteLock, truncateLog, replace, leaveLink, kill, reopen
    }

    @Test(
        "acknowledged commits remain and databases are not mixed when files are replaced or deleted D20 D23 D24 D28")
    func random() throws {
        let seed = ProcessInfo.processInfo.environment["MARTLET_CHAOS_SEED"].flatMap { UInt64($0) }
        let first = seed ?? .random(in: 1...999_999)
        let kills = ProcessInfo.processInfo.environment["MARTLET_CHAOS"].flatMap { UInt64($0) } ?? 12
        for round in 0..<max(4, kills / 4) {
            do {
                try runRandomChanges(SeededRandom(seed: first &+ round))
            } catch {
                Issue.record("seed \(first &+ round): \(error)")
                return
            }
            try FileManager.default.removeItem(at: folder)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
    }

    private func runRandomChanges(_ seed: SeededRandom) throws {
        var random = seed
        try create("app.realm", "file0")
        var processes = [try opened(), try opened(), try opened()]
        /// The commits that the file at the path must contain, the content of all of its objects, and the steps so far.
        var (required, content, history) = (Set<Int>(), "file0", [String]())
        for step in 1...40 {
            let index = Int.random(in: 0..<processes.count, using: &random)
            if Int.random(in: 0..<10, using: &random) < 7 {
                let answer = try processes[index].run("write \(step) \(content)")
                history.append("\(index) writes \(step): \(answer)")
                if answer == "ok" {
                    required.insert(step)
                } else {
                    guard answer.hasPrefix("error file") else { throw Violation(history.joined(separator: ", ")) }
                    try processes[index].run("close")
                    try reopen(&processes, index, &history)
                }
                continue
            }
            let change = Change.allCases[Int.random(in: 0..<Change.allCases.count, using: &random)]
            history.append("\(change)")
            switch change {
            case .deleteIndex: unlink(path + "-shm")
            case .deleteLock: unlink(path + ".lock")
            case .truncateLog:
                truncate(path + "-wal", 0)
                required = []
            case .replace:
                content = "file\(step)"
                required = []
                try create("new.realm", content)
                try replace()
            case .leaveLink: try leaveLink(step)
            case .kill:
                processes[index].kill()
                try reopen(&processes, index, &history)
            case .reopen:
                try processes[index].run("close")
                try reopen(&processes, index, &history)
            }
        }
        for process in processes { process.kill() }
        try check(required, content, history)
    }

    // After the log was truncated, the index describes a log that no longer exists. As long as a process has the file
    // open, another process may then fail to open it.
    private func reopen(_ processes: inout [CommandProcess], _ index: Int, _ history: inout [String]) throws {
        processes[index].kill()
        do {
            processes[index] = try opened()
        } catch {
            history.append("\(error)")
            guard history.contains("truncateLog") else { throw Violation(history.joined(separator: ", ")) }
            for process in processes { process.kill() }
            for index in processes.indices { processes[index] = try opened(history) }
        }
    }

    private func opened(_ history: [String]) throws -> CommandProcess {
        do { return try opened() } catch { throw Violation("\(error) after \(history.joined(separator: ", "))") }
    }

    // Moves the file and its log to another folder, and leaves a symbolic link to the file at the path.
    private func leaveLink(_ step: Int) throws {
        let target = folder.appending(path: "\(step)")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        for suffix in ["-wal", ""] { rename(file + suffix, target.path + "/app.realm" + suffix) }
        unlink(path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target.path + "/app.realm")
    }

    private func check(_ required: Set<Int>, _ content: String, _ history: [String]) throws {
        let objects = try opened(history).run("all").split(separator: " ").map { $0.split(separator: ":") }
        let ids = Set(objects.compactMap { Int($0[0]) })
        let mixed = objects.filter { $0[1] != content }
        let isIntact = try integrity() == .text("ok")
        guard required.isSubset(of: ids), mixed.isEmpty, isIntact else {
            throw Violation(
                "lost writes \(required.subtracting(ids).sorted()), mixed-in objects \(mixed), intact: \(isIntact), "
                    + "steps: \(history.joined(separator: ", "))")
        }
    }
}
