import MartletEngine

/// What objects there are, by their codes.
typealias World = [String: Int]

/// What was written: the world of every version, in the order in which they were made.
///
/// A writer enters its version while it holds the lock of the file, before it commits.
struct Ledger {
    private var worlds: [(version: Version, world: World)] = []
    /// The newest version that a writer was told to be stored.
    private(set) var acknowledged: Version = 0

    var newest: Version { worlds.last?.version ?? 0 }

    /// The world of a version, which may have been made without changes of ours.
    func world(_ version: Version) -> World { worlds.last { $0.version <= version }?.world ?? [:] }

    mutating func enter(_ version: Version, _ world: World) { worlds.append((version, world)) }

    mutating func takeBack(_ version: Version) { worlds.removeAll { $0.version == version } }

    mutating func acknowledge(_ version: Version) { acknowledged = max(acknowledged, version) }
}
