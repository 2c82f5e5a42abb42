import MartletSQLite

/// A version of a file that somebody keeps in use.
package struct PinnedVersion: Sendable {
    package let version: Version
    /// Since it was first pinned by who holds it now.
    package let nanoseconds: UInt64
    /// Who holds it, in no particular order; empty for what the runtime holds itself for a moment.
    package let holders: [String]

    var text: String {
        let who = holders.isEmpty ? "" : " by \(holders.joined(separator: ", "))"
        return "version \(version), for \(nanoseconds / 1_000_000_000) s\(who)"
    }
}

/// Which versions are in use, and limits on them.
///
/// SQLite keeps apart what four readers of different versions need. Whoever comes fifth keeps more of the log than the version
/// needs, so that it grows; and what is old keeps it from being copied at all.
extension StoreCoordinator {
    private static let greatestVersions = 4
    private static let longPin: UInt64 = 10_000_000_000

    /// The versions in use, oldest first.
    package var pinnedVersions: [PinnedVersion] {
        // Held until after the lock: to end one takes it.
        let handles = locked { $0.handles.values.compactMap(\.handle) }
        let now = environment.now()
        return Dictionary(grouping: handles, by: \.version).sorted { $0.key < $1.key }.map { version, handles in
            let since = handles.map(\.since).min() ?? now
            return PinnedVersion(
                version: version, nanoseconds: now - min(since, now), holders: handles.flatMap(\.holders).sorted())
        }
    }

    /// Refuses when `more` versions beside those in use were too many.
    func requireRoom(for more: Int) throws(EngineError) {
        guard let limit = options.maximumNumberOfActiveVersions else { return }
        let count = locked { $0.pinned.count } + more
        guard count > limit else { return }
        throw EngineError(
            .tooManyVersions, path: path,
            "\(count) versions of the file are in use and the configuration allows \(limit); "
                + "let go of frozen objects and refresh Realms of other threads: "
                + pinnedVersions.map(\.text).joined(separator: "; "))
    }

    /// Says once of each version that it keeps the log from being shortened.
    func warnOfPins() {
        guard locked({ $0.pinned.count }) > Self.greatestVersions, let oldest = pinnedVersions.first,
            oldest.nanoseconds > Self.longPin
        else { return }
        let isNew = locked { state in
            defer { state.warnedVersion = oldest.version }
            return state.warnedVersion != oldest.version
        }
        guard isNew else { return }
        environment.log(
            "'\(path)' grows, because old versions of it are in use; let go of frozen objects, and refresh the Realms of "
                + "other threads: " + pinnedVersions.map(\.text).joined(separator: "; "))
    }
}
