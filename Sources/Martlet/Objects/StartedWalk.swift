import MartletEngine

/// The members that a collection had when a loop over it began, for as long as the loop can find them one after the other.
///
/// It can while its Realm shows the same. Before the Realm shows anything else the keys of all members are read.
final class StartedWalk {
    /// The keys of all members; nil while the Realm shows what it showed at the start.
    private(set) var keys: KeySequence?
    private let findKeys: () -> KeySequence

    init(_ findKeys: @escaping () -> KeySequence) { self.findKeys = findKeys }

    func settle() {
        if keys == nil { keys = findKeys() }
    }
}

extension RealmContext {
    /// From now on the walk is settled before the Realm shows something else. What is frozen never does.
    func register(_ walk: StartedWalk) {
        if isFrozen { return }
        walks.removeAll { $0.walk == nil }
        walks.append(WeakWalk(walk: walk))
    }

    func settleWalks() {
        if walks.isEmpty { return }
        for walk in walks { walk.walk?.settle() }
        walks = []
    }
}
