import MartletEngine

/// The property `content` of each `StringKey` object, by its primary key `code`.
typealias Contents = [String: Int]

/// The contents of the file at every version, in the order of the versions.
///
/// A writer records its version while it holds the write lock, before it commits.
struct VersionHistory {
    private var versions: [(version: Version, contents: Contents)] = []
    /// The newest version whose commit has returned.
    private(set) var acknowledged: Version = 0

    var newest: Version { versions.last?.version ?? 0 }

    /// The contents at a version. A version that the test has not recorded has the contents of the version before it.
    func contents(at version: Version) -> Contents { versions.last { $0.version <= version }?.contents ?? [:] }

    mutating func record(_ version: Version, _ contents: Contents) { versions.append((version, contents)) }

    mutating func discard(_ version: Version) { versions.removeAll { $0.version == version } }

    mutating func acknowledge(_ version: Version) { acknowledged = max(acknowledged, version) }
}
