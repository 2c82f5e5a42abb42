/// One step of a run.
enum Step: CustomStringConvertible {
    /// Here, in another Realm of the process, or as another process would.
    enum Place { case here, there, afar }

    case write([Operation], Place)
    /// Without telling the watcher at a position.
    case silent([Operation], Int)
    case cancelled([Operation])
    case turn
    /// What is under way gets ready, and is not told yet.
    case ripen
    /// Turns until nothing is under way.
    case settle
    /// Asynchronous loops take what waits for them.
    case loops
    case invalidate
    case autorefresh(Bool)
    case refresh
    case watch(WatcherPlan)
    case end(Int)
    /// The watcher at a position writes when it is called next.
    case nested([Operation], Int)
    /// The same without telling another one.
    case nestedSilent([Operation], Int, silencing: Int)
    /// The Realm's own observer writes when it is called next, without telling the watcher at a position.
    case realmSilent([Operation], silencing: Int)
    /// The watcher at a position ends another, or itself, when it is called next.
    case endInside(Int, by: Int)
    /// The watcher at a position registers another when it is called next.
    case watchInside(WatcherPlan, by: Int)
    /// An asynchronous write.
    case later([Operation])
    /// The watcher at a position asks for one when it is called next.
    case nestedLater([Operation], by: Int)

    var description: String {
        switch self {
        case .write(let operations, let place): "write \(place) \(operations)"
        case .silent(let operations, let watcher): "write silencing \(watcher) \(operations)"
        case .cancelled(let operations): "cancel \(operations)"
        case .turn: "turn"
        case .ripen: "ripen"
        case .settle: "settle"
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
        case .endInside(let victim, let watcher): "\(watcher) ends \(victim)"
        case .watchInside(let plan, let watcher): "\(watcher) watches \(plan)"
        case .later(let operations): "later \(operations)"
        case .nestedLater(let operations, let watcher): "\(watcher) writes later \(operations)"
        }
    }

    var operations: [Operation]? {
        switch self {
        case .write(let operations, _), .silent(let operations, _), .cancelled(let operations),
            .nested(let operations, _), .nestedSilent(let operations, _, _), .realmSilent(let operations, _),
            .later(let operations), .nestedLater(let operations, _):
            operations
        default: nil
        }
    }

    func with(_ operations: [Operation]) -> Step {
        switch self {
        case .write(_, let place): .write(operations, place)
        case .silent(_, let watcher): .silent(operations, watcher)
        case .cancelled: .cancelled(operations)
        case .nested(_, let watcher): .nested(operations, watcher)
        case .nestedSilent(_, let watcher, let silenced): .nestedSilent(operations, watcher, silencing: silenced)
        case .realmSilent(_, let silenced): .realmSilent(operations, silencing: silenced)
        case .later: .later(operations)
        case .nestedLater(_, let watcher): .nestedLater(operations, by: watcher)
        default: self
        }
    }
}

/// What a seed stands for: steps, and how the store is set up.
struct Program {
    /// What it does most of.
    enum Theme {
        case plain
        /// One link after another: changes as far away as they count, and one link farther.
        case chain
        /// Lists of many chunks.
        case long
        /// Maps whose keys come, go and stay in one delivery.
        case maps
        /// Values of any type.
        case any
    }

    var steps: [Step]
    let theme: Theme
    /// Lists of a few elements have several chunks.
    let hasShortChunks: Bool
    /// Rows are looked for by their sort keys, however few there are.
    let searchesAlways: Bool
    /// Some observers live on a queue or an actor.
    let hasHomes: Bool

    init(seed: UInt64) {
        var random = SeededGenerator(seed)
        let hasAfar = seed.isMultiple(of: 4)
        hasHomes = seed % 5 < 2
        let themes: [Theme] = [.chain, .long, .maps, .any, .any] + Array(repeating: .plain, count: 10)
        theme = themes[Int.random(in: 0..<themes.count, using: &random)]
        hasShortChunks = Bool.random(using: &random) || theme == .long
        searchesAlways = Bool.random(using: &random)
        let kinds = Operation.kinds(&random, theme)
        steps = theme == .chain ? [.write(Operation.chained(&random), .here)] : []
        steps.append(.write(Operation.series(12, &random, of: kinds), .here))
        for _ in 0..<Int.random(in: 4...10, using: &random) { steps.append(.watch(WatcherPlan(&random, theme))) }
        if Bool.random(using: &random) { steps.append(.refresh) }
        for _ in 0..<60 { steps.append(Self.step(&random, hasAfar, kinds, theme)) }
    }

    /// The steps, with each operation of a write counted.
    var size: Int { steps.reduce(0) { $0 + max(1, $1.operations?.count ?? 1) } }

    private static func step(
        _ random: inout SeededGenerator, _ hasAfar: Bool, _ kinds: [Operation.Kind], _ theme: Theme
    ) -> Step {
        let count = Int.random(in: 1...4, using: &random) * (Int.random(in: 0..<4, using: &random) == 0 ? 3 : 1)
        let operations = Operation.series(count, &random, of: kinds)
        let watcher = Int.random(in: 0..<60, using: &random)
        return switch Int.random(in: 0..<51, using: &random) {
        case 0..<13: .write(operations, .here)
        case 13..<21: .write(operations, hasAfar && Bool.random(using: &random) ? .afar : .there)
        case 21..<23: .silent(operations, watcher)
        case 23: .cancelled(operations)
        case 24: .nested(operations, watcher)
        case 25: .nestedSilent(operations, watcher, silencing: Int.random(in: 0..<60, using: &random))
        case 26: .endInside(Int.random(in: 0..<60, using: &random), by: watcher)
        case 27: .watchInside(WatcherPlan(&random, theme), by: watcher)
        case 28..<30: .turn
        case 30: .settle
        case 31: .ripen
        case 32..<34: .loops
        case 34..<36: .watch(WatcherPlan(&random, theme))
        case 36: .end(watcher)
        case 37..<39: .cancelled(operations)
        case 39: Bool.random(using: &random) ? .invalidate : .autorefresh(Bool.random(using: &random))
        case 40, 41: .later(operations)
        case 42: .nestedLater(operations, by: watcher)
        case 43: .realmSilent(operations, silencing: watcher)
        default: .refresh
        }
    }
}
