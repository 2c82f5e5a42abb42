import ModelTesting

/// One step of a program. A position selects one of the registered watchers.
enum Step: CustomStringConvertible {
    /// The Realm that writes: the observed Realm, another Realm of the process, or a Realm that shares only the file
    /// with the observed Realm, like a Realm of another process.
    enum Writer { case here, otherThread, otherProcess }

    /// How an asynchronous write ends: by a commit, alone or grouped with others, or by a rollback. The write is rolled
    /// back if its block cancels the write, throws an error, or does not commit the write.
    enum Ending: CaseIterable {
        case commit, commitGrouped, commitAlone, cancel, failure, leaveOpen

        var endsInCommit: Bool { [.commit, .commitGrouped, .commitAlone].contains(self) }
    }

    case write([Operation], Writer)
    /// A silent write, which does not notify the watcher at a position.
    case silent([Operation], Int)
    case cancelled([Operation])
    /// Runs the work that is pending on the scheduler of the Realm.
    case runScheduler
    /// Waits until the pending changes are computed, without delivering them.
    case waitUntilComputed
    /// Runs the scheduler until nothing is pending.
    case deliverAll
    /// Runs the `for await` loops of the observers.
    case loops
    case invalidate
    case autorefresh(Bool)
    case refresh
    case watch(WatcherPlan)
    case end(Int)
    /// The watcher at a position writes when it is called next.
    case nested([Operation], Int)
    /// The watcher at a position makes a silent write when it is called next, without notifying another watcher.
    case nestedSilent([Operation], Int, silencing: Int)
    /// The observer of the Realm makes a silent write when it is called next, without notifying the watcher at a
    /// position.
    case realmSilent([Operation], silencing: Int)
    /// The watcher at a position ends another watcher, or itself, when it is called next.
    case endDuringCall(Int, by: Int)
    /// The watcher at a position registers another watcher when it is called next.
    case watchDuringCall(WatcherPlan, by: Int)
    /// From now on, the watcher at a position reads in each call the contents that another watcher observes.
    case readDuringCalls(Int, by: Int)
    /// An asynchronous write.
    case asyncWrite([Operation], Ending)
    /// The watcher at a position queues an asynchronous write when it is called next.
    case nestedAsyncWrite([Operation], Ending, by: Int)

    var description: String {
        switch self {
        case .write(let operations, let writer): "write \(writer) \(operations)"
        case .silent(let operations, let watcher): "write silencing \(watcher) \(operations)"
        case .cancelled(let operations): "cancel \(operations)"
        case .runScheduler: "run scheduler"
        case .waitUntilComputed: "wait until computed"
        case .deliverAll: "deliver all"
        case .loops: "loops"
        case .invalidate: "invalidate"
        case .autorefresh(let isOn): "autorefresh \(isOn)"
        case .refresh: "refresh"
        case .watch(let plan): "watch \(plan)"
        case .end(let watcher): "end \(watcher)"
        case .nested(let operations, let watcher): "\(watcher) writes \(operations)"
        case .nestedSilent(let operations, let watcher, let silenced):
            "\(watcher) writes silencing \(silenced) \(operations)"
        case .realmSilent(let operations, let silenced):
            "the observer of the Realm writes silencing \(silenced) \(operations)"
        case .endDuringCall(let victim, let watcher): "\(watcher) ends \(victim)"
        case .watchDuringCall(let plan, let watcher): "\(watcher) watches \(plan)"
        case .readDuringCalls(let read, let watcher): "\(watcher) reads what \(read) observes"
        case .asyncWrite(let operations, let ending): "write asynchronously, \(ending): \(operations)"
        case .nestedAsyncWrite(let operations, let ending, let watcher):
            "\(watcher) writes asynchronously, \(ending): \(operations)"
        }
    }

    var operations: [Operation]? {
        switch self {
        case .write(let operations, _), .silent(let operations, _), .cancelled(let operations),
            .nested(let operations, _), .nestedSilent(let operations, _, _), .realmSilent(let operations, _),
            .asyncWrite(let operations, _), .nestedAsyncWrite(let operations, _, _):
            operations
        default: nil
        }
    }

    func with(_ operations: [Operation]) -> Step {
        switch self {
        case .write(_, let writer): .write(operations, writer)
        case .silent(_, let watcher): .silent(operations, watcher)
        case .cancelled: .cancelled(operations)
        case .nested(_, let watcher): .nested(operations, watcher)
        case .nestedSilent(_, let watcher, let silenced): .nestedSilent(operations, watcher, silencing: silenced)
        case .realmSilent(_, let silenced): .realmSilent(operations, silencing: silenced)
        case .asyncWrite(_, let ending): .asyncWrite(operations, ending)
        case .nestedAsyncWrite(_, let ending, let watcher): .nestedAsyncWrite(operations, ending, by: watcher)
        default: self
        }
    }
}

/// A random program: its steps, and the configuration of the store. The seed determines both.
struct Program {
    /// The operations that a program prefers.
    enum Theme {
        case plain
        /// Chains of links. Objects change at the greatest depth that observers report, and one link beyond it.
        case chain
        /// Lists of many chunks.
        case long
        /// Maps with keys that are inserted, deleted and modified between two deliveries.
        case maps
        /// `AnyRealmValue` values.
        case any
        /// Rows with several accessors, and key-value observers of them.
        case furtherAccessors
        /// Observers of sections. In some steps, an observer of the Realm makes silent writes before the observers of
        /// sections are called. In other steps, an observer is called for a change only after a later silent write has
        /// ended.
        case sections
    }

    var steps: [Step]
    let theme: Theme
    /// Whether chunks have at most two elements, so that short lists have several chunks.
    let hasShortChunks: Bool
    /// Whether the runtime always finds the positions of rows by their sort keys, and never by a scan of all keys. It
    /// then finds the positions of elements in a table of all positions.
    let neverScans: Bool
    /// Whether some observers are called on a queue or an actor.
    let usesExecutors: Bool

    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let hasWritesOfOtherProcess = seed.isMultiple(of: 4)
        usesExecutors = seed % 5 < 2
        let themes: [Theme] =
            [.chain, .long, .maps, .any, .any, .furtherAccessors, .furtherAccessors, .sections]
            + Array(repeating: .plain, count: 10)
        theme = themes[Int.random(in: 0..<themes.count, using: &random)]
        hasShortChunks = Bool.random(using: &random) || theme == .long
        neverScans = Bool.random(using: &random)
        let kinds = Operation.kinds(&random, theme)
        steps = theme == .chain ? [.write(Operation.chained(&random), .here)] : []
        // The first `AnyRealmValue` creates tables. The write that creates the tables may be rolled back in the middle
        // of a group.
        let addsAnyValuesLater = theme == .any && Bool.random(using: &random)
        let first = addsAnyValuesLater ? kinds.filter { !$0.isAny } : kinds
        steps.append(.write(Operation.series(12, &random, of: first), .here))
        if addsAnyValuesLater {
            let anyKinds = kinds.filter(\.isAny)
            steps.append(.asyncWrite(Operation.series(2, &random, of: first), .commit))
            let endings = [Step.Ending.cancel, .failure, .leaveOpen, .commit]
            for ending in [endings.randomElement(using: &random) ?? .cancel, Self.ending(&random), .commit] {
                steps.append(.asyncWrite(Operation.series(5, &random, of: anyKinds), ending))
            }
            steps += [.runScheduler, .runScheduler]
        }
        for _ in 0..<Int.random(in: 4...10, using: &random) { steps.append(.watch(WatcherPlan(&random, theme))) }
        if Bool.random(using: &random) { steps.append(.refresh) }
        for _ in 0..<60 {
            let step = Self.step(&random, hasWritesOfOtherProcess, kinds, theme)
            steps.append(step)
            if theme == .sections, Int.random(in: 0..<4, using: &random) == 0 {
                steps += Self.lateChange(&random, kinds)
            }
            // Asynchronous writes that are queued together form one group.
            guard case .asyncWrite = step, Bool.random(using: &random) else { continue }
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let operations = Operation.series(Int.random(in: 1...3, using: &random), &random, of: kinds)
                steps.append(.asyncWrite(operations, Self.ending(&random)))
            }
        }
    }

    /// The number of steps. A write counts as the number of its operations.
    var size: Int { steps.reduce(0) { $0 + max(1, $1.operations?.count ?? 1) } }

    private static func ending(_ random: inout some RandomNumberGenerator) -> Step.Ending {
        Bool.random(using: &random) ? .commit : Step.Ending.allCases.randomElement(using: &random) ?? .commit
    }

    /// Steps after which the watcher `silenced` is called late. A silent write follows a change, and the call for the
    /// change comes only after the silent write. The watcher `writer` causes the delay: it is called when the silent
    /// write begins, and writes into the same transaction. This defers the calls of all later watchers. In each call,
    /// `writer` also reads the contents that `silenced` observes.
    private static func lateChange(_ random: inout SeededRandom, _ kinds: [Operation.Kind]) -> [Step] {
        let operations = (0..<3).map { _ in
            let series = Operation.series(Int.random(in: 1...3, using: &random), &random, of: kinds)
            return Bool.random(using: &random) ? series : series + [Operation(&random, of: [.nameAll])]
        }
        // An observer that was registered early is called before most other observers.
        let (writer, silenced) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<60, using: &random))
        return [
            .readDuringCalls(silenced, by: writer), .write(operations[0], .otherThread),
            .nested(operations[1], writer), .silent(operations[2], silenced),
        ]
    }

    private static func step(
        _ random: inout SeededRandom, _ hasWritesOfOtherProcess: Bool, _ kinds: [Operation.Kind], _ theme: Theme
    ) -> Step {
        let count = Int.random(in: 1...4, using: &random) * (Int.random(in: 0..<4, using: &random) == 0 ? 3 : 1)
        let operations = Operation.series(count, &random, of: kinds)
        let watcher = Int.random(in: 0..<60, using: &random)
        if theme == .sections, Int.random(in: 0..<5, using: &random) == 0 {
            return .realmSilent(operations, silencing: watcher)
        }
        return switch Int.random(in: 0..<52, using: &random) {
        case 0..<13: .write(operations, .here)
        case 13..<21:
            .write(operations, hasWritesOfOtherProcess && Bool.random(using: &random) ? .otherProcess : .otherThread)
        case 21..<23: .silent(operations, watcher)
        case 23: .cancelled(operations)
        case 24: .nested(operations, watcher)
        case 25: .nestedSilent(operations, watcher, silencing: Int.random(in: 0..<60, using: &random))
        case 26: .endDuringCall(Int.random(in: 0..<60, using: &random), by: watcher)
        case 27: .watchDuringCall(WatcherPlan(&random, theme), by: watcher)
        case 28..<30: .runScheduler
        case 30: .deliverAll
        case 31: .waitUntilComputed
        case 32..<34: .loops
        case 34..<36: .watch(WatcherPlan(&random, theme))
        case 36: .end(watcher)
        case 37..<39: .cancelled(operations)
        case 39: Bool.random(using: &random) ? .invalidate : .autorefresh(Bool.random(using: &random))
        case 40, 41: .asyncWrite(operations, ending(&random))
        case 42: .nestedAsyncWrite(operations, ending(&random), by: watcher)
        case 43: .realmSilent(operations, silencing: watcher)
        case 44: .readDuringCalls(Int.random(in: 0..<60, using: &random), by: watcher)
        default: .refresh
        }
    }
}
