import MartletSQLite

/// A version of a file that is in use.
package struct PinnedVersion: Sendable {
    package let version: Version
    /// The number of nanoseconds since the first of the current holders pinned the version.
    package let nanoseconds: UInt64
    /// Descriptions of the holders, in alphabetical order. Empty while only the runtime itself holds the version. It
    /// does so only for a short time.
    package let holders: [String]

    var text: String {
        let suffix = holders.isEmpty ? "" : " by \(holders.joined(separator: ", "))"
        return "version \(version), for \(nanoseconds / 1_000_000_000) s\(suffix)"
    }
}

/// Counts the versions in use and limits their number.
///
/// SQLite supports readers of four different versions at the same time. A reader of a fifth version keeps a longer part
/// of the log in use than it needs, so the log grows. While an old version is in use, newer parts of the log cannot be
/// copied.
extension StoreCoordinator {
    private static let maximumVersions = 4
    private static let longPinNanoseconds: UInt64 = 10_000_000_000

    /// The versions in use, oldest first.
    package var pinnedVersions: [PinnedVersion] {
        // The handles are released after `locked` returns, because the deinit of a handle acquires the lock.
        let handles = locked { $0.handles.values.compactMap(\.handle) }
        let now = environment.now()
        return Dictionary(grouping: handles, by: \.version).sorted { $0.key < $1.key }.map { version, handles in
            let since = handles.map(\.pinnedAtNanoseconds).min() ?? now
            return PinnedVersion(
                version: version, nanoseconds: now - min(since, now),
                holders: handles.flatMap(\.ownerDescriptions).sorted())
        }
    }

    /// Throws if `more` additional versions would exceed the limit.
    func checkVersionLimit(adding more: Int) throws(EngineError) {
        guard let limit = options.maximumNumberOfActiveVersions else { return }
        let count = locked { $0.pinned.count } + more
        guard count > limit else { return }
        throw EngineError(
            .tooManyVersions, path: path,
            "\(count) versions of the file are in use and the configuration allows \(limit); "
                + "release frozen objects and refresh Realms of other threads: "
                + pinnedVersions.map(\.text).joined(separator: "; "))
    }

    /// Writes a warning to standard error if more than four versions are in use and the oldest version has been pinned
    /// for more than 10 seconds. The log then cannot be shortened. The warning is written once for each oldest version.
    func warnOfPins() {
        guard locked({ $0.pinned.count }) > Self.maximumVersions, let oldest = pinnedVersions.first,
            oldest.nanoseconds > Self.longPinNanoseconds
        else { return }
        let isNew = locked { state in
            defer { state.warnedVersion = oldest.version }
            return state.warnedVersion != oldest.version
        }
        guard isNew else { return }
        environment.log(
            "'\(path)' grows, because old versions of it are in use; release frozen objects, and refresh the Realms of "
                + "other threads: " + pinnedVersions.map(\.text).joined(separator: "; "))
    }
}
