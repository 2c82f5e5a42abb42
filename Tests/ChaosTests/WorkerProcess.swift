import Foundation
import Synchronization

@testable import ChaosWorker

/// A worker process of the crash test. This class starts the process, sends signals to it, and reads its journal.
final class WorkerProcess {
    let options: WorkerOptions
    private let process = Process()
    private let journal: JournalReader
    private let end = DispatchSemaphore(value: 0)
    private(set) var entries: [Entry] = []
    /// The number of entries when the last command was sent.
    private var entriesBeforeCommand = 0
    /// The time until which the test keeps the process suspended, in nanoseconds.
    var suspendedUntil: UInt64 = 0

    init(_ executable: URL, _ options: WorkerOptions) throws {
        self.options = options
        let path = WorkerOptions.journal(options.folder, options.processNumber)
        journal = JournalReader(path)
        let errors = "\(options.folder)/\(options.processNumber).errors"
        _ = FileManager.default.createFile(atPath: errors, contents: nil)
        process.executableURL = executable
        process.arguments = options.arguments
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

    /// Waits for the end of the process. Returns false if the process has not ended after 60 s.
    func waitForExit() -> Bool { end.wait(timeout: .now() + .seconds(60)) == .success }

    /// Whether a `SIGKILL`, which the test or the process itself sent, ended the process.
    var wasKilled: Bool { process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL }

    var outcome: String {
        process.terminationReason == .exit
            ? "status \(process.terminationStatus)" : "signal \(process.terminationStatus)"
    }

    // MARK: Journal

    /// Reads the entries that the process has written since the last call.
    func readJournal() { entries += journal.newEntries() }

    var isReady: Bool { entries.contains(.ready) }

    func send(command: Int32) {
        readJournal()
        entriesBeforeCommand = entries.count
        signal(command)
    }

    /// The entries since the last command.
    var answer: ArraySlice<Entry> { entries[entriesBeforeCommand...] }

    /// The error that the process has found; nil if there is none.
    var failure: String? {
        for case .failed(let reason) in entries { return reason }
        return nil
    }

    /// The position of the newest transaction of which the observers of the process were notified; 0 if there is none.
    var sequenceSeen: Int {
        for case .saw(_, let sequence, _) in entries.reversed() { return sequence }
        return 0
    }
}

/// Reads the lines that another process appends to a file. An incomplete last line is read later, when it is complete.
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
