import ModelTesting

/// The steps of all threads of a run.
struct Program {
    /// The steps of one thread. After `switchThread`, another thread opens another Realm and performs the following
    /// steps.
    struct Part {
        /// Parts of one process share a coordinator. Every process except the first has one part.
        var process = 0
        var steps: [Step]
    }

    enum Step: Equatable {
        /// Changes some objects. The number is a seed, which determines the changes together with the current objects.
        case write(UInt64)
        case cancel(UInt64)
        /// Asynchronous writes: one that commits, one whose block cancels the write, and one whose block throws an
        /// error.
        case writeAsync(UInt64), cancelAsync(UInt64), failAsync(UInt64)
        /// `runScheduler` runs the work that is pending on the scheduler of the Realm.
        case refresh, runScheduler, invalidate, pollForCommits, checkpoint
        /// Releases the Realm. The next step opens another one.
        case close
        case watch, watchObject, endWatch
        /// The thread ends while its Realm stays open. The part continues on another thread.
        case switchThread
        /// Frozen Realms are shared by all threads.
        case freeze, readFrozen, dropFrozen
    }

    var parts: [Part]
    /// Whether the file exists at the beginning. Otherwise the threads create it.
    var fileExists = true
    /// The length of the log, in frames, that triggers a checkpoint.
    var checkpointFrames = Int.max
    /// The number of commits whose change sets are kept.
    var retention: UInt64 = 1_000

    /// The length of the log, in frames, above which writers wait or fail; nil for no limit.
    var logLimit: Int?
    var failsWhenLogIsFull = false

    /// Whether change sets of other processes may be deleted before observers are notified of them.
    var mayLoseChangeSets: Bool { retention < 1_000 && parts.contains { $0.process != 0 } }

    var size: Int { parts.reduce(0) { $0 + $1.steps.count } }
}

extension Program {
    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let count = Int.random(in: 2...4, using: &random)
        let hasOther = Int.random(in: 0..<3, using: &random) == 0
        let kinds = Int.random(in: 0..<1 << Step.kindCount, using: &random)
        parts = (0..<count).map { number in
            let steps = (0..<Int.random(in: 1...5, using: &random)).map { _ in Step(kinds: kinds, &random) }
            return Part(process: hasOther && number == count - 1 ? 1 : 0, steps: steps)
        }
        fileExists = Int.random(in: 0..<4, using: &random) != 0
        checkpointFrames = [1, 4, 12, .max][Int.random(in: 0..<4, using: &random)]
        retention = [0, 1, 1_000, 1_000][Int.random(in: 0..<4, using: &random)]
        logLimit = [nil, nil, nil, 2, 6, 12][Int.random(in: 0..<6, using: &random)]
        failsWhenLogIsFull = Bool.random(using: &random)
    }
}

extension Program.Step {
    static let kindCount = 17

    /// Writes, `watch` and `runScheduler` may occur in every program. Every other kind is excluded from half of the
    /// programs, so that some programs use few kinds often.
    init(kinds: Int, _ random: inout SeededRandom) {
        let number = UInt64.random(in: 1..<100, using: &random)
        let kind = Int.random(in: 0..<2 * Self.kindCount, using: &random)
        self =
            switch kinds & 1 << (kind % Self.kindCount) == 0 ? kind % 4 : 4 + kind % Self.kindCount {
            case 0, 1, 4: .write(number)
            case 2, 5: .watch
            case 3, 6: .runScheduler
            case 7: .cancel(number)
            case 8: .writeAsync(number)
            case 9: .refresh
            case 10: .checkpoint
            case 11: .close
            case 12: .endWatch
            case 13: .freeze
            case 14: .readFrozen
            case 15: .dropFrozen
            case 16: .watchObject
            case 17: .cancelAsync(number)
            case 18: .failAsync(number)
            case 19: .switchThread
            default: Bool.random(using: &random) ? .pollForCommits : .invalidate
            }
    }
}

extension Program: CustomStringConvertible {
    var description: String {
        let settings = [
            fileExists ? nil : "the file does not exist",
            checkpointFrames == .max ? nil : "checkpoints after \(checkpointFrames)",
            logLimit.map {
                "the log is limited to \($0) frames\(failsWhenLogIsFull ? ", beyond which writes fail" : "")"
            },
            retention == 1_000 ? nil : "changes of \(retention) commits are kept",
        ].compactMap { $0 }
        let lines = parts.enumerated().map { number, part in
            "part \(number)\(part.process == 0 ? "" : " (process \(part.process))"): "
                + part.steps.map { "\($0)" }.joined(separator: ", ")
        }
        return (settings + lines).joined(separator: "\n")
    }
}
