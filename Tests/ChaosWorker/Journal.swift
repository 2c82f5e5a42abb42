import Foundation

/// The journal of one worker process: a file beside the database, to which the process appends lines. A line that
/// `write` has written remains if the process is killed.
final class Journal: Sendable {
    private let descriptor: Int32

    init(_ path: String) { descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644) }

    func write(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = Foundation.write(descriptor, bytes, bytes.count)
    }

    /// Writes an error and ends the process, so that later errors do not hide the first one.
    func fail(_ reason: String) -> Never {
        write("FAIL \(reason)")
        exit(3)
    }

    /// The monotonic time in nanoseconds, from the clock that all processes share.
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// A line of a journal: a word, followed by numbers or by a message.
enum Entry: Equatable {
    /// The process has opened the file and accepts commands.
    case ready
    /// A commit has returned. The entry contains the number of the transaction in its process, its position among all
    /// transactions, its version (0 if unknown), and the times at which the write began and ended.
    case acknowledged(number: Int, sequence: Int, version: UInt64, begun: UInt64, done: UInt64)
    /// An observer was notified while its Realm showed this version. The entry contains the position of the newest
    /// transaction and the digest of the contents at this version.
    case saw(version: UInt64, sequence: Int, digest: UInt64)
    /// The process waits for commands. `sequence` is the position of its last transaction, or 0 if there is none.
    case paused(sequence: Int)
    /// The copies that the observers of the process keep are equal to the contents of the file.
    case checked(sequence: Int)
    case failed(String)

    init?(_ line: Substring) {
        let words = line.split(separator: " ")
        let numbers = words.dropFirst().compactMap { UInt64($0) }
        switch (words.first, numbers.count) {
        case ("ready", 0): self = .ready
        case ("ack", 5):
            self = .acknowledged(
                number: Int(numbers[0]), sequence: Int(numbers[1]), version: numbers[2], begun: numbers[3],
                done: numbers[4])
        case ("saw", 3): self = .saw(version: numbers[0], sequence: Int(numbers[1]), digest: numbers[2])
        case ("paused", 1): self = .paused(sequence: Int(numbers[0]))
        case ("checked", 1): self = .checked(sequence: Int(numbers[0]))
        case ("FAIL", _): self = .failed(line.dropFirst(5).description)
        default: return nil
        }
    }

    var line: String {
        switch self {
        case .ready: "ready"
        case .acknowledged(let number, let sequence, let version, let begun, let done):
            "ack \(number) \(sequence) \(version) \(begun) \(done)"
        case .saw(let version, let sequence, let digest): "saw \(version) \(sequence) \(digest)"
        case .paused(let sequence): "paused \(sequence)"
        case .checked(let sequence): "checked \(sequence)"
        case .failed(let reason): "FAIL \(reason)"
        }
    }
}

extension Journal {
    func write(_ entry: Entry) { write(entry.line) }
}
