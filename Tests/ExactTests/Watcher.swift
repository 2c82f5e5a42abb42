import ConformanceModels
import Martlet

/// An observer under test: its registration, the contents that it must see, and the state that it knew last.
final class Watcher {
    /// An action inside a callback.
    enum CallbackAction {
        case write([Operation], silencing: Watcher?)
        case end(Watcher)
        case watch(WatcherPlan)
        case queueWrite([Operation], Step.Ending)
    }

    var name: String
    var token: NotificationToken?
    /// The state of the model at the last call. Other writes may have preceded the delivery of the call. If the call
    /// may therefore belong to several states, this array contains all of them. It is empty before the first call.
    var known: [ModelState] = []
    /// The actions of the next callback.
    var actions: [CallbackAction] = []
    /// Another watcher. Each callback also reads the contents that the other watcher observes, and compares them with
    /// the model.
    weak var readsInCalls: Watcher?
    /// The number of calls since the asynchronous loops last ran.
    var callsInRun = 0
    private(set) var hasEnded = false
    /// The queue or the actor on which the observer is called; nil for the thread of the test.
    var executor: ObserverExecutors.Executor?
    /// The token of an observer on a queue or an actor. Writes on the thread of the test cannot silence it.
    var tokenOnExecutor: NotificationToken?
    /// Inside a call, the version that the notified object or collection shows; nil if the version is unknown.
    var version: (() -> UInt64?)?
    /// The row that owns the observed collection or object. The observer ends when the row is deleted.
    var owner: Int?
    /// The asynchronous loop that receives the changes; nil if a callback receives them.
    private var loop: Task<Void, Never>?
    /// The error to report if the observer was not called between two states; nil if no call is required.
    let missing: (ModelState, ModelState) -> String?
    /// The current elements of the observed collection, and the elements in the model.
    let live: (ModelState) -> (actual: [String], expected: [String])?

    init(
        _ name: String, missing: @escaping (ModelState, ModelState) -> String?,
        live: @escaping (ModelState) -> (actual: [String], expected: [String])?
    ) {
        self.name = name
        self.missing = missing
        self.live = live
    }

    /// Whether an object is observed. Observers of objects have no initial call.
    var isOfObject = false

    var isLoop: Bool { loop != nil }

    /// Whether the observer is called later than observers on the thread of the test.
    var isLate: Bool { isLoop || executor != nil }

    /// Silent writes of which the observer is not notified, each with the states before and after the write.
    private var silenced: [(base: ModelState, after: ModelState)] = []
    /// States before silent writes, if a callback had already written in the transaction of the silent write. The
    /// changes up to these states are delivered after the silent write.
    private var lateBases: [ModelState] = []

    /// States before silent writes. A call may still report the changes up to one of these states.
    func basesDeliveredLate(_ now: ModelState) -> [ModelState] { lateBases.filter { $0.time <= now.time } }

    /// Expects no call for the changes from one state to another.
    ///
    /// - Parameter deliversBaseLate: Whether the changes up to `base` are delivered after the silent write.
    func silence(_ base: ModelState, _ after: ModelState, deliversBaseLate: Bool) {
        // The initial call includes all earlier changes.
        if known.isEmpty { return }
        if deliversBaseLate { lateBases.append(base) }
        silenced.append((base, after))
        skipSilenced()
    }

    /// Whether a silent write lies between two states.
    func isSilenced(_ old: ModelState, _ new: ModelState) -> Bool {
        silenced.contains {
            $0.base.time < $0.after.time && old.time <= $0.base.time && $0.after.time <= new.time
        }
    }

    /// Treats the changes of a silent write as known if all changes before the write are known.
    func skipSilenced() {
        for (base, after) in silenced where known.contains(where: { missing($0, base) == nil }) {
            if !known.contains(where: { $0.time == after.time }) { known.append(after) }
        }
    }

    /// Records that all changes up to a state have been delivered.
    func acknowledge(_ model: ModelState) {
        known = [model]
        silenced = []
        lateBases = []
    }

    /// Receives changes in an asynchronous loop, which runs on `executor`.
    func consume<Change>(
        _ changes: Changes<Change>, on executor: ManualTaskExecutor, _ body: @escaping (Change) -> Void
    ) {
        // Begins the observation at once. Another loop may run first, write, and delete the observed object.
        nonisolated(unsafe) let iterator = changes.makeAsyncIterator()
        nonisolated(unsafe) let body = body
        loop = Task(executorPreference: executor) { while let change = await iterator.next() { body(change) } }
    }

    func end() {
        hasEnded = true
        loop?.cancel()
        token?.invalidate()
        token = nil
        tokenOnExecutor?.invalidate()
        tokenOnExecutor = nil
        // The actions may retain this watcher.
        actions = []
    }
}

/// The random numbers that decide what is observed, and how.
struct WatcherPlan: CustomStringConvertible {
    enum Kind: String, CaseIterable {
        case results, list, set, map, links, sections, section, object, projection, projected, values, keyValue
        /// `AnyRealmValue` properties and collections.
        case any
        case realm
    }

    let kind: Kind
    let node: Int
    let base: Int
    let filter: Int
    let sort: Int
    let cut: Int
    let paths: Int
    /// Whether an asynchronous loop receives the changes, for the kinds that support it.
    var isLoop: Bool
    /// The queue or the actor that receives the changes, for the kinds and programs that support it.
    var executor: ObserverExecutors.Executor?

    init(_ random: inout some RandomNumberGenerator, _ theme: Program.Theme) {
        let favorites: [Kind] =
            switch theme {
            case .plain: []
            case .chain: [.results, .results, .list, .set, .map, .sections, .object]
            case .long: Array(repeating: .values, count: 12)
            case .maps: Array(repeating: .map, count: 12)
            case .any: Array(repeating: .any, count: 10)
            case .furtherAccessors: Array(repeating: .keyValue, count: 12) + [.object, .list]
            case .sections: Array(repeating: .sections, count: 8) + [.section, .section, .realm, .realm, .realm]
            }
        let kinds = favorites + [.results, .results, .keyValue] + Kind.allCases.filter { $0 != .any }
        kind = kinds.randomElement(using: &random) ?? .results
        node = Int.random(in: 0..<60, using: &random)
        base = Int.random(in: 0..<12, using: &random)
        filter = Int.random(in: 0..<30, using: &random)
        sort = Int.random(in: 0..<12, using: &random)
        cut = Int.random(in: 0..<12, using: &random)
        let isFar = theme == .chain && Int.random(in: 0..<3, using: &random) > 0
        // Either 0, which selects all properties, or the index of one of the last three key paths, which are the
        // longest.
        let far = Bool.random(using: &random) ? 0 : Self.nodePaths.count - Int.random(in: 1...3, using: &random)
        let some = Int.random(in: 0..<60, using: &random)
        paths = isFar ? far : some
        let receiver = Int.random(in: 0..<12, using: &random)
        isLoop = receiver < 2
        executor = receiver < 6 ? [2: .queue, 3: .queue, 4: .actor, 5: .actor][receiver] : nil
    }

    var description: String {
        "\(kind)(\(node), \(base), \(filter), \(sort), \(cut), \(paths), \(isLoop), \(executor.map { "\($0)" } ?? "here"))"
    }

    /// Key paths of nodes; nil means all properties.
    static let nodePaths: [[String]?] = [
        nil, nil, [], ["name"], ["amount"], ["next"], ["next.name"], ["next.next.amount"], ["children"],
        ["children.name"], ["peers.amount"], ["named"], ["named.name"], ["previous"], ["previous.name"], ["parents"],
        ["parents.name"], ["peersOf.name"], ["namedBy"], ["namedBy.amount"], ["part"], ["part.name"],
        ["part.node.name"],
        ["parts.name"], ["partsByName"], ["partsByName.name"], ["*"], ["next.*"], ["children.*"],
        ["children.next.name"], ["parents.children.name"], ["previous.previous.name"], ["parents.*"],
        ["name", "children.amount"], ["next.previous.amount"], ["part.*"], ["*.*"], ["*.amount"],
        ["next.next.next.next.next.next.name"], ["next.children.peers.named.next.amount"],
        ["previous.previous.previous.previous.previous.name"],
    ]

    static let partPaths: [[String]?] = [nil, ["name"], ["node"], ["node.name"], ["*"], ["node.children.name"]]

    var nodePaths: [String]? { Self.nodePaths[paths % Self.nodePaths.count] }
    var partPaths: [String]? { Self.partPaths[paths % Self.partPaths.count] }
}

// MARK: Queries

/// A query that can be applied to the model and to results of the Realm.
struct ModelQuery {
    private struct Filter: Sendable {
        let text: String
        let holds: @Sendable (ModelState, Int) -> Bool
    }

    private struct Sort: Sendable {
        let descriptors: [SortDescriptor]
        let precedes: @Sendable (ModelState, Int, Int) -> Bool
    }

    private let filter: Filter?
    private let sort: Sort?
    private let distinct: String?
    private let window: (count: Int, offset: Int)?

    /// - Parameter allowsDistinctAndLimit: Whether the plan may add `distinct` or `limit`.
    init(_ plan: WatcherPlan, allowsDistinctAndLimit: Bool = true) {
        let filters = Self.filters
        filter = plan.filter < filters.count ? filters[plan.filter] : nil
        sort = plan.sort < Self.sorts.count ? Self.sorts[plan.sort] : nil
        distinct = allowsDistinctAndLimit && plan.cut < 3 ? ["name", "amount", "next.name"][plan.cut] : nil
        window = allowsDistinctAndLimit && (2..<5).contains(plan.cut) ? (count: 3, offset: plan.cut - 2) : nil
    }

    var descriptors: [SortDescriptor] { sort?.descriptors ?? [] }

    var text: String {
        let parts = [
            filter.map { "where \($0.text)" },
            sort.map { "sorted by \($0.descriptors.map { $0.keyPath + ($0.ascending ? "" : " down") })" },
            distinct.map { "distinct by \($0)" }, window.map { "limited to \($0.count) from \($0.offset)" },
        ]
        return parts.compactMap { $0 }.joined(separator: " ")
    }

    func apply(_ results: Results<Node>, sorts: Bool = true) -> Results<Node> {
        var results = results
        if let filter { results = results.filter(filter.text) }
        if sorts, let sort { results = results.sorted(by: sort.descriptors) }
        if let distinct { results = results.distinct(by: [distinct]) }
        if let window { results = results.limit(window.count, offset: window.offset) }
        return results
    }

    /// The rows of the result. `rows` are the rows of the queried collection, in its order.
    func apply(_ rows: [Int], _ model: ModelState) -> [Int] {
        var rows = rows
        if let filter { rows = rows.filter { filter.holds(model, $0) } }
        if let sort {
            rows = rows.enumerated().sorted {
                sort.precedes(model, $0.element, $1.element)
                    || !sort.precedes(model, $1.element, $0.element) && $0.offset < $1.offset
            }.map(\.element)
        }
        if let distinct {
            var known: Set<ModelState.Value> = []
            rows = rows.filter { row in
                let value = model.value(row, distinct)
                // Rows without the link are left out.
                if distinct.contains("."), value == .none { return false }
                return known.insert(value.compared).inserted
            }
        }
        if let window { rows = Array(rows.dropFirst(window.offset).prefix(window.count)) }
        return rows
    }

    private static let filters = [
        Filter(text: "amount < 3") { ($0.number($1, "amount") ?? 0) < 3 },
        Filter(text: "name > 'B'") { ($0.text($1, "name") ?? "") > "B" },
        Filter(text: "next.name == 'B'") { $0.value($1, "next.name") == .text("B") },
        Filter(text: "next.next.amount > 1") { ($0.value($1, "next.next.amount").number ?? 0) > 1 },
        Filter(text: "children.@count > 1") { $0.slots($1, "children").count > 1 },
        Filter(text: "ANY children.amount > 2") { model, row in
            model.targets(row, "children").contains { (model.number($0, "amount") ?? 0) > 2 }
        },
        Filter(text: "previous.@count > 0") { !$0.origins($1, "next").isEmpty },
        Filter(text: "ANY parents.name == 'A'") { model, row in
            model.origins(row, "children").contains { model.text($0, "name") == "A" }
        },
        Filter(text: "ANY peers.name == 'C'") { model, row in
            model.targets(row, "peers").contains { model.text($0, "name") == "C" }
        },
        Filter(text: "next == nil") { $0.link($1, "next") == nil },
        Filter(text: "part.name == 'A'") { $0.value($1, "part.name") == .text("A") },
        Filter(text: "NOT name IN {'A', 'D'} AND amount > 0") {
            !["A", "D"].contains($0.text($1, "name") ?? "") && ($0.number($1, "amount") ?? 0) > 0
        },
        Filter(text: "ANY parts.name > 'B'") { model, row in
            model.targets(row, "parts").contains { (model.text($0, "name") ?? "") > "B" }
        },
        Filter(text: "peersOf.@count > 0 OR amount == 1") {
            !$0.origins($1, "peers").isEmpty || $0.number($1, "amount") == 1
        },
    ]

    private static let sorts = [
        Sort(descriptors: [SortDescriptor(keyPath: "name")]) { $0.value($1, "name").precedes($0.value($2, "name")) },
        Sort(descriptors: [SortDescriptor(keyPath: "amount", ascending: false)]) {
            $0.value($2, "amount").precedes($0.value($1, "amount"))
        },
        Sort(descriptors: [SortDescriptor(keyPath: "next.name")]) {
            $0.value($1, "next.name").precedesBehindLink($0.value($2, "next.name"))
        },
        Sort(descriptors: [
            SortDescriptor(keyPath: "name", ascending: false), SortDescriptor(keyPath: "amount"),
        ]) { model, left, right in
            let names = (model.value(left, "name"), model.value(right, "name"))
            if names.0 != names.1 { return names.1.precedes(names.0) }
            return model.value(left, "amount").precedes(model.value(right, "amount"))
        },
        Sort(descriptors: [SortDescriptor(keyPath: "part.name")]) {
            $0.value($1, "part.name").precedesBehindLink($0.value($2, "part.name"))
        },
    ]
}

extension ModelState.Value {
    var number: Double? { if case .number(let number) = self { number } else { nil } }

    /// The order of values at the end of a link. Rows without the link come last.
    func precedesBehindLink(_ other: ModelState.Value) -> Bool {
        switch (self, other) {
        case (.none, _): false
        case (_, .none): true
        default: precedes(other)
        }
    }

    /// The value, with negative zero replaced by zero, because a query treats these two numbers as equal.
    var compared: ModelState.Value {
        if case .number(let number) = self { .number(number == 0 ? 0 : number) } else { self }
    }

    /// The order of stored values: nil comes first, then NaN.
    func precedes(_ other: ModelState.Value) -> Bool {
        switch (self, other) {
        case (.none, .none): false
        case (.none, _): true
        case (.number(let left), .number(let right)): left.isNaN ? !right.isNaN : left < right
        case (.text(let left), .text(let right)): left < right
        default: false
        }
    }
}

extension ModelState {
    /// The value at the end of a key path over links.
    func value(_ row: Int, _ path: String) -> Value {
        var current = row
        let names = path.split(separator: ".").map(String.init)
        for name in names.dropLast() {
            guard let next = link(current, name) else { return .none }
            current = next
        }
        return singleValue(current, names.last ?? "")
    }

    /// The rows without duplicates, in the order of their keys.
    func inKeyOrder(_ rows: [Int]) -> [Int] {
        let wanted = Set(rows)
        return nodes.map(\.serial).filter(wanted.contains)
    }
}
