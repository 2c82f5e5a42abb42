import MartletEngine

extension Realm {
    /// A version of a file that somebody in this process keeps in use.
    public struct PinnedVersion: Sendable {
        /// The number of the commit that made it.
        public let version: UInt64
        /// For how long it has been kept.
        public let duration: Duration
        /// Who keeps it: the homes of Realms that show it, and where something was first frozen of it. Empty for what the
        /// runtime needs for a moment.
        public let holders: [String]
    }

    /// The version that it shows.
    package var version: UInt64 { context.version }

    /// The versions of this Realm's file that this process keeps in use, oldest first.
    ///
    /// A version is kept by what was frozen of it and by Realms that have not moved on. The file cannot take in what was
    /// committed since the oldest, and grows.
    public var pinnedVersions: [PinnedVersion] {
        context.coordinator.pinnedVersions.map {
            PinnedVersion(version: $0.version, duration: .nanoseconds(Int64($0.nanoseconds)), holders: $0.holders)
        }
    }
}
