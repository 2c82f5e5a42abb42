import MartletEngine

/// The contents of all objects, by their codes.
typealias World = [String: Int]

/// The contents of the file at every version, in the order of the versions.
///
/// A writer records its version while it holds the write lock, before it commits.
struct VersionHistory {
    private var worlds: [(version: Version, world: World)] = []
    /// The newest version whose commit has returned.
    private(set) var acknowledged: Version = 0

    var newest: Version { worlds.last?.version ?? 0 }

    /// The contents at a version. A version that the test has not recorded has the contents of the version before it.
    func world(_ version: Version) -> World { worlds.last { $0.version <= version }?.world ?? [:] }

    mutating func record(_ version: Version, _ world: World) { worlds.append((version, world)) }

    mutating func discard(_ version: Version) { worlds.removeAll { $0.version == version } }

    mutating func acknowledge(_ version: Version) { acknowledged = max(acknowledged, version) }
}
