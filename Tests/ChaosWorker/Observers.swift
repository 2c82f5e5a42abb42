import ConformanceModels
import Dispatch
import Martlet
import ModelTesting

/// The observers of a process. They check every notification, and write the versions they see to the journal.
///
/// Thread safety: used only on the queue of the Realm.
// Sendable for the reason above.
final class Observers: @unchecked Sendable {
    private let realm: Realm
    private let queue: DispatchQueue
    private let journal: Journal
    private var random: SeededRandom
    private var watchers: [Watcher] = []
    private var objectWatcher: ObjectWatcher?
    private var version: UInt64 = 0
    /// If true, this class does not refresh the Realm. The Realm then advances only when it notifies its observers.
    var isQuiet = false
    /// The position of the newest transaction of which the observers were notified.
    private(set) var sequence = 0
    /// Frozen results, with their contents at the time of freezing.
    private var frozen: [(nodes: Results<Node>, seen: [ObservedNode])] = []

    init(_ realm: Realm, _ queue: DispatchQueue, _ journal: Journal, _ seed: UInt64) {
        self.realm = realm
        self.queue = queue
        self.journal = journal
        random = SeededRandom(seed: seed ^ 2)
        let nodes = realm.objects(Node.self)
        watch("all", nodes) { [unowned self] in recordVersion() }
        watch("some, sorted", nodes.where { $0.amount > 50 }.sorted(byKeyPath: "name"))
        watch("linked", nodes.where { $0.next.amount < 50 })
        scheduleStep()
    }

    private func fail(_ reason: String) -> Never { journal.fail(reason) }

    private func watch<C: ObservableCollection & RealmCollection>(
        _ name: String, _ collection: C, onCall: @escaping () -> Void = {}
    ) where C.Element == Node {
        watchers.append(Watcher(name, collection, fail: fail, onCall: onCall))
    }

    /// Checks and records the version that the Realm shows. Every transaction changes a node, so this function is
    /// called for every version that the Realm shows.
    private func recordVersion() {
        let state = FileState(realm)
        let shown = realm.version
        if shown < version { fail("version \(shown) was shown after version \(version)") }
        if state.sequence < sequence { fail("transaction \(state.sequence) was shown after \(sequence)") }
        (version, sequence) = (shown, state.sequence)
        journal.write(.saw(version: shown, sequence: sequence, digest: state.digest))
        guard objectWatcher == nil, let first = realm.object(ofType: Node.self, forPrimaryKey: 1) else { return }
        objectWatcher = ObjectWatcher(first, fail: fail)
        watch("list", first.children)
    }

    /// Whether an observer has not received its initial call yet.
    var awaitsFirstCall: Bool { watchers.contains { $0.awaitsFirstCall } }

    /// The first difference between the copies of the observers and the Realm; nil if there is none. Called while no
    /// process writes.
    var difference: String? {
        for results in frozen { check(results) }
        if let difference = objectWatcher?.difference { return difference }
        for watcher in watchers { if let difference = watcher.difference { return difference } }
        return nil
    }

    private func check(_ frozen: (nodes: Results<Node>, seen: [ObservedNode])) {
        if frozen.nodes.map(ObservedNode.init) != frozen.seen { fail("frozen results have changed") }
    }

    /// At random intervals, refreshes the Realm, freezes results, checks frozen results, or does nothing.
    private func scheduleStep() {
        let pause = DispatchTimeInterval.milliseconds(Int.random(in: 5..<120, using: &random))
        queue.asyncAfter(deadline: .now() + pause) { [weak self] in
            guard let self else { return }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: if !isQuiet { realm.refresh() }
            case 1 where frozen.count < 3:
                let nodes = realm.objects(Node.self).freeze()
                frozen.append((nodes, nodes.map(ObservedNode.init)))
            case 2 where !frozen.isEmpty: check(frozen.removeFirst())
            default: break
            }
            scheduleStep()
        }
    }
}
