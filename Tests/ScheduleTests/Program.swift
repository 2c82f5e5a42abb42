import MartletTestSupport

/// What the threads of a run do.
struct Program {
    /// One thread with a Realm of its own.
    struct Part {
        /// Parts of one process share its coordinator. Each but the first process has one part.
        var process = 0
        var steps: [Step]
    }

    enum Step: Equatable {
        /// Changes some objects: which and how follows from the number, and from what is there.
        case write(UInt64)
        case cancel(UInt64)
        /// Asynchronously; the second is cancelled by its block, and the block of the third throws an error.
        case writeSoon(UInt64), cancelSoon(UInt64), failSoon(UInt64)
        case refresh, turn, invalidate, look, checkpoint
        /// Lets go of the Realm; the next step opens another.
        case close
        case watch, watchObject, endWatch
        /// The thread ends, and the part goes on in another one, while the Realm of the first stays open.
        case move
        /// Frozen Realms are shared by all threads.
        case freeze, readFrozen, dropFrozen
    }

    var parts: [Part]
    /// Otherwise the threads make the file.
    var isFileThere = true
    /// Frames of the log that call for a checkpoint.
    var checkpointFrames = Int.max
    /// Commits whose changes are kept.
    var retention: UInt64 = 1_000

    /// The length of the log, in frames, above which writers wait or fail; nil for no limit.
    var logLimit: Int?
    var failsWhenLogIsFull = false

    /// Changes of other processes may be forgotten before they are told.
    var forgetsOthers: Bool { retention < 1_000 && parts.contains { $0.process != 0 } }

    var size: Int { parts.reduce(0) { $0 + $1.steps.count } }
}

extension Program {
    init(seed: UInt64) {
        var random = Seeded(state: seed)
        let count = Int.random(in: 2...4, using: &random)
        let hasOther = Int.random(in: 0..<3, using: &random) == 0
        let kinds = Int.random(in: 0..<1 << Step.kindCount, using: &random)
        parts = (0..<count).map { number in
            let steps = (0..<Int.random(in: 1...5, using: &random)).map { _ in Step(kinds: kinds, &random) }
            return Part(process: hasOther && number == count - 1 ? 1 : 0, steps: steps)
        }
        isFileThere = Int.random(in: 0..<4, using: &random) != 0
        checkpointFrames = [1, 4, 12, .max][Int.random(in: 0..<4, using: &random)]
        retention = [0, 1, 1_000, 1_000][Int.random(in: 0..<4, using: &random)]
        logLimit = [nil, nil, nil, 2, 6, 12][Int.random(in: 0..<6, using: &random)]
        failsWhenLogIsFull = Bool.random(using: &random)
    }
}

extension Program.Step {
    static let kindCount = 17

    /// Writes, turns and observers are in all programs; of other kinds each is left out of half of them, so that there are
    /// programs with much of a few.
    init(kinds: Int, _ random: inout Seeded) {
        let number = UInt64.random(in: 1..<100, using: &random)
        let kind = Int.random(in: 0..<2 * Self.kindCount, using: &random)
        self =
            switch kinds & 1 << (kind % Self.kindCount) == 0 ? kind % 4 : 4 + kind % Self.kindCount {
            case 0, 1, 4: .write(number)
            case 2, 5: .watch
            case 3, 6: .turn
            case 7: .cancel(number)
            case 8: .writeSoon(number)
            case 9: .refresh
            case 10: .checkpoint
            case 11: .close
            case 12: .endWatch
            case 13: .freeze
            case 14: .readFrozen
            case 15: .dropFrozen
            case 16: .watchObject
            case 17: .cancelSoon(number)
            case 18: .failSoon(number)
            case 19: .move
            default: Bool.random(using: &random) ? .look : .invalidate
            }
    }
}

extension Program: CustomStringConvertible {
    var description: String {
        let settings = [
            isFileThere ? nil : "the file is not there",
            checkpointFrames == .max ? nil : "checkpoints after \(checkpointFrames)",
            logLimit.map { "the log may have \($0) frames\(failsWhenLogIsFull ? ", or writes fail" : "")" },
            retention == 1_000 ? nil : "changes of \(retention) commits are kept",
        ].compactMap { $0 }
        let lines = parts.enumerated().map { number, part in
            "part \(number)\(part.process == 0 ? "" : " (process \(part.process))"): "
                + part.steps.map { "\($0)" }.joined(separator: ", ")
        }
        return (settings + lines).joined(separator: "\n")
    }
}
