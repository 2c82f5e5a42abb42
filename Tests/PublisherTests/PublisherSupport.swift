import ConformanceModels
import Martlet
import MartletTestSupport

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// A subscriber that requests values only when a test calls `request`. It keeps the values that it receives.
final class DemandSubscriber<Input, Failure: Error>: Subscriber {
    private(set) var values: [Input] = []
    private(set) var isFinished = false
    private var subscription: (any Subscription)?
    /// The demand that the subscriber returns for each value.
    var demandPerValue = Subscribers.Demand.none
    var onValue: (() -> Void)?

    func receive(subscription: any Subscription) { self.subscription = subscription }

    func receive(_ input: Input) -> Subscribers.Demand {
        values.append(input)
        onValue?()
        return demandPerValue
    }

    func receive(completion: Subscribers.Completion<Failure>) { isFinished = true }

    func request(_ demand: Subscribers.Demand) { subscription?.request(demand) }
    func cancel() { subscription?.cancel() }
    func releaseSubscription() { subscription = nil }
}

extension TestRealm {
    /// Adds the nodes 1 to 3 and returns them. The first node links to the second node.
    func graph() throws -> [Node] {
        let nodes = (1...3).map { Node(id: $0, name: "n\($0)") }
        try realm.write {
            realm.add(nodes)
            nodes[0].next = nodes[1]
            nodes[0].children.append(nodes[1])
            nodes[0].peers.insert(nodes[1])
            nodes[0].named.updateValue(nodes[1], forKey: "a")
        }
        realm.refresh()
        return nodes
    }

    /// Commits a write and delivers its changes.
    func commit(_ body: () -> Void) throws {
        try realm.write { body() }
        realm.refresh()
    }
}

extension RealmCollectionChange {
    var text: String {
        switch self {
        case .initial: "initial"
        case .update(_, let deletions, let insertions, let modifications): "\(deletions) \(insertions) \(modifications)"
        case .error(let error): "\(error)"
        }
    }
}
