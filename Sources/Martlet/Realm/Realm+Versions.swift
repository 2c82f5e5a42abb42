import MartletEngine

extension Realm {
    /// A version of a file that is in use in this process.
    public struct PinnedVersion: Sendable {
        /// The number of the version.
        public let version: UInt64
        /// How long the version has been in use.
        public let duration: Duration
        /// The holders of the version: the thread, queue or actor of each Realm that shows the version, and the line of
        /// the program that first froze it. The array is empty if only the runtime itself uses the version. The runtime
        /// releases such a version after a short time.
        public let holders: [String]
    }

    /// The version that the Realm shows.
    package var version: UInt64 { context.version }

    /// The versions of this Realm's file that are in use in this process, oldest first.
    ///
    /// A version is in use while a frozen value or a Realm shows that version. Commits after the oldest version in use
    /// cannot be moved from the write-ahead log to the file, so the log grows.
    public var pinnedVersions: [PinnedVersion] {
        context.coordinator.pinnedVersions.map {
            PinnedVersion(version: $0.version, duration: .nanoseconds(Int64($0.nanoseconds)), holders: $0.holders)
        }
    }
}
