import Foundation
import Synchronization

@testable import ChaosWorker

/// A process of the storm, as whoever starts and kills it sees it.
final class WorkerProcess {
    let assignment: Assignment
    private let process = Process()
    private let journal: JournalReader
    private let end = DispatchSemaphore(value: 0)
    private(set) var entries: [Entry] = []
    /// How many of the entries were there when it was last given an order.
    private var heard = 0
    /// Until when it is to be left stopped.
    var stoppedUntil: UInt64 = 0

    init(_ executable: URL, _ assignment: Assignment) throws {
        self.assignment = assignment
        let path = Assignment.journal(assignment.folder, assignment.incarnation)
        journal = JournalReader(path)
        let errors = "\(assignment.folder)/\(assignment.incarnation).errors"
        _ = FileManager.default.createFile(atPath: errors, contents: nil)
        process.executableURL = executable
        process.arguments = assignment.arguments
        process.standardInput = FileHandle.nullDevice
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: errors))
        process.standardOutput = output
        process.standardError = output
        process.terminationHandler = { [end] _ in end.signal() }
        try process.run()
        try output.close()
    }

    func signal(_ number: Int32) { if process.isRunning { kill(process.processIdentifier, number) } }

    var isRunning: Bool { process.isRunning }

    /// True when it ends within a time that is long for any machine.
    func ends() -> Bool { end.wait(timeout: .now() + .seconds(60)) == .success }

    /// True for one that was ended by `SIGKILL`, its own or another's.
    var wasKilled: Bool { process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL }

    var outcome: String {
        process.terminationReason == .exit
            ? "status \(process.terminationStatus)" : "signal \(process.terminationStatus)"
    }

    // MARK: What it says

    /// Takes in what it has written since the last look.
    func listen() { entries += journal.newEntries() }

    var isReady: Bool { entries.contains(.ready) }

    func order(_ order: Int32) {
        listen()
        heard = entries.count
        signal(order)
    }

    /// What it has said since the last order.
    var answer: ArraySlice<Entry> { entries[heard...] }

    /// What it has found to be wrong.
    var failure: String? {
        for case .failed(let reason) in entries { return reason }
        return nil
    }

    /// The newest transaction that its observers were told of.
    var sequenceSeen: Int {
        for case .saw(_, let sequence, _) in entries.reversed() { return sequence }
        return 0
    }
}

/// Reads a file that grows. What is not followed by the end of a line was never written.
final class JournalReader {
    private let path: String
    private var offset: UInt64 = 0

    init(_ path: String) { self.path = path }

    func newEntries() -> [Entry] {
        guard let file = FileHandle(forReadingAtPath: path) else { return [] }
        defer { try? file.close() }
        guard (try? file.seek(toOffset: offset)) != nil, let bytes = try? file.readToEnd(),
            let end = bytes.lastIndex(of: UInt8(ascii: "\n"))
        else { return [] }
        let whole = bytes[...end]
        offset += UInt64(whole.count)
        return String(decoding: whole, as: UTF8.self).split(separator: "\n").compactMap { Entry($0) }
    }
}
