import ConformanceModels
import Dispatch
import Martlet
import MartletTestSupport

/// The observers of a process, and what they are told.
///
/// Ledger: used on the queue of its Realm only.
// Sendable by the ledger above.
final class Audience: @unchecked Sendable {
    private let realm: Realm
    private let queue: DispatchQueue
    private let journal: Journal
    private var random: Seeded
    private var watchers: [Watcher] = []
    private var objectWatcher: ObjectWatcher?
    private var version: UInt64 = 0
    /// While it is set nothing is shown but what notifications bring.
    var isQuiet = false
    /// The place of the newest transaction that they were told of.
    private(set) var sequence = 0
    /// Pictures of moments, with what they showed when they were taken.
    private var pictures: [(nodes: Results<Node>, seen: [Seen])] = []

    init(_ realm: Realm, _ queue: DispatchQueue, _ journal: Journal, _ seed: UInt64) {
        self.realm = realm
        self.queue = queue
        self.journal = journal
        random = Seeded(state: seed ^ 2)
        let nodes = realm.objects(Node.self)
        watch("all", nodes) { [unowned self] in told() }
        watch("some, sorted", nodes.where { $0.amount > 50 }.sorted(byKeyPath: "name"))
        watch("linked", nodes.where { $0.next.amount < 50 })
        idle()
    }

    private func fail(_ reason: String) -> Never { journal.fail(reason) }

    private func watch<C: ObservableCollection & RealmCollection>(
        _ name: String, _ collection: C, whenTold: @escaping () -> Void = {}
    ) where C.Element == Node {
        watchers.append(Watcher(name, collection, fail: fail, whenTold: whenTold))
    }

    /// Every transaction changes a node, so this is called for every version that is shown.
    private func told() {
        let world = World(realm)
        let shown = realm.version
        if shown < version { fail("version \(shown) was shown after version \(version)") }
        if world.sequence < sequence { fail("transaction \(world.sequence) was shown after \(sequence)") }
        (version, sequence) = (shown, world.sequence)
        journal.write(.saw(version: shown, sequence: sequence, digest: world.digest))
        guard objectWatcher == nil, let first = realm.object(ofType: Node.self, forPrimaryKey: 1) else { return }
        objectWatcher = ObjectWatcher(first, fail: fail)
        watch("list", first.children)
    }

    /// Whether an observer has not had its first call.
    var awaitsFirstCall: Bool { watchers.contains { $0.awaitsFirstCall } }

    /// What they have not been told of, when nobody writes; nil when they know all.
    var difference: String? {
        for picture in pictures { check(picture) }
        if let difference = objectWatcher?.difference { return difference }
        for watcher in watchers { if let difference = watcher.difference { return difference } }
        return nil
    }

    private func check(_ picture: (nodes: Results<Node>, seen: [Seen])) {
        if picture.nodes.map(Seen.init) != picture.seen { fail("what was frozen has changed") }
    }

    /// Takes pictures, looks at old ones, and refreshes by hand now and then.
    private func idle() {
        let pause = DispatchTimeInterval.milliseconds(Int.random(in: 5..<120, using: &random))
        queue.asyncAfter(deadline: .now() + pause) { [weak self] in
            guard let self else { return }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: if !isQuiet { realm.refresh() }
            case 1 where pictures.count < 3:
                let nodes = realm.objects(Node.self).freeze()
                pictures.append((nodes, nodes.map(Seen.init)))
            case 2 where !pictures.isEmpty: check(pictures.removeFirst())
            default: break
            }
            idle()
        }
    }
}
