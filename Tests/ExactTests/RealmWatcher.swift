@testable import Martlet

/// An observer of the Realm itself: it is told once of each commit of the Realm, and of each version that it moves to.
final class RealmWatcher {
    private(set) var token: NotificationToken?
    /// The version that it was told of last.
    private var told: UInt64
    private var required: UInt64 = 0
    /// Commits of the Realm itself that it is still to be told of.
    private var commits = 0
    /// The Realm showed nothing, and may show something newer without having moved.
    private var isExcused = false
    private let refreshes: Bool
    private var wrong: String?
    /// Calls since it was judged last.
    private(set) var calls = 0

    /// What it is to do when it is called next, unless a write is beginning then.
    var deed: (() -> Void)?

    /// - Parameter refreshes: whether it refreshes the Realm where that is required.
    init(_ realm: Realm, refreshes: Bool) {
        self.refreshes = refreshes
        told = realm.context.version
        token = realm.observe { [unowned self] notification, realm in
            hear(notification, realm, autorefresh: realm.autorefresh, isInWrite: realm.isInWriteTransaction)
        }
    }

    private func hear(
        _ notification: Realm.Notification, _ realm: Realm, autorefresh: Bool, isInWrite: Bool
    ) {
        calls += 1
        switch notification {
        case .refreshRequired:
            if autorefresh { wrong = wrong ?? "is told to refresh a Realm that does so by itself" }
            if refreshes, !isInWrite, !realm.refresh() { wrong = wrong ?? "is told to refresh and cannot" }
        case .didChange:
            // Not asked above: an invalidated Realm begins to read the newest version when it is asked for one.
            let version = realm.context.version
            if version <= told && commits == 0 && !isExcused { wrong = wrong ?? "is told twice of version \(version)" }
            if version < told { wrong = wrong ?? "is told of version \(version) after \(told)" }
            commits = max(0, commits - 1)
            told = version
            isExcused = false
        }
        guard let deed, !isInWrite else { return }
        self.deed = nil
        deed()
    }

    /// A write of the Realm itself is about to be committed.
    func expect() { commits += 1 }

    /// It was not to be told of what has been committed up to a version.
    func skip(_ version: UInt64) { (told, commits) = (version, 0) }

    /// It was not told of a commit in the middle of being told of another.
    func miss(_ version: UInt64) { (told, commits) = (version, max(0, commits - 1)) }

    func excuse() { isExcused = true }

    func end() { token = nil }

    /// What is wrong with the calls since the last time. `shown` is nil when the Realm shows nothing.
    func judge(_ shown: UInt64?) -> String? {
        defer { calls = 0 }
        if let wrong { return wrong }
        if commits > 0 { return "is not told of \(commits) commits" }
        guard let shown, !isExcused else { return nil }
        return told == shown ? nil : "was told of version \(told), and the Realm shows \(shown)"
    }
}
