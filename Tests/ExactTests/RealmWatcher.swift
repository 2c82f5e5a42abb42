@testable import Martlet

/// An observer of the Realm itself. It must be notified once of each commit of the Realm, and of each version to which
/// the Realm advances.
final class RealmWatcher {
    private(set) var token: NotificationToken?
    /// The version of the last notification.
    private var known: UInt64
    /// The number of commits of this Realm of which the observer has not been notified yet.
    private var commits = 0
    /// Whether the Realm was invalidated and may show a newer version without a notification.
    private var allowsJump = false
    /// Whether the observer was added inside a write. It may then be notified of the end of this write.
    private var isAddedInWrite: Bool
    private let refreshes: Bool
    /// The first error that a callback found.
    private var failure: String?
    /// The number of calls since the last check.
    private(set) var calls = 0

    /// The action of the next callback. A callback at the beginning of a write leaves the action to a later callback.
    var action: (() -> Void)?

    /// - Parameter refreshes: Whether the observer refreshes the Realm on `refreshRequired`.
    init(_ realm: Realm, refreshes: Bool) {
        self.refreshes = refreshes
        known = realm.context.version
        isAddedInWrite = realm.isInWriteTransaction
        token = realm.observe { [unowned self] notification, realm in
            receive(notification, realm, autorefresh: realm.autorefresh, isInWrite: realm.isInWriteTransaction)
        }
    }

    private func receive(
        _ notification: Realm.Notification, _ realm: Realm, autorefresh: Bool, isInWrite: Bool
    ) {
        calls += 1
        switch notification {
        case .refreshRequired:
            if autorefresh { failure = failure ?? "is asked to refresh a Realm that refreshes automatically" }
            if refreshes, !isInWrite, !realm.refresh() {
                failure = failure ?? "is asked to refresh, but the refresh does nothing"
            }
        case .didChange:
            // The version is not read before the switch. Reading the version makes an invalidated Realm show the newest
            // version.
            let version = realm.context.version
            // A write without changes creates no version, but its observers are notified. A notification at the
            // beginning of a write belongs to an earlier commit.
            let isExpected = (commits > 0 || isAddedInWrite) && !isInWrite
            if version <= known && !isExpected && !allowsJump {
                failure = failure ?? "is notified twice of version \(version)"
            }
            if version < known { failure = failure ?? "is notified of version \(version) after \(known)" }
            if isExpected { (commits, isAddedInWrite) = (max(0, commits - 1), false) }
            known = version
            allowsJump = false
        }
        guard let action, !isInWrite else { return }
        self.action = nil
        action()
    }

    /// Expects a notification of a commit of the Realm itself.
    func expectCommit() { commits += 1 }

    /// Expects no notification of the commits up to a version, because these commits are silent.
    func skipSilentCommits(_ version: UInt64) { (known, commits) = (version, 0) }

    /// Expects no separate notification of a commit that was made while the observer was called for another commit.
    func skipNestedCommit(_ version: UInt64) { (known, commits) = (version, max(0, commits - 1)) }

    /// Allows the Realm to show a newer version without a notification, after it was invalidated.
    func allowJump() { allowsJump = true }

    func end() { token = nil }

    /// Returns the first error since the last check. `shown` is nil if the Realm shows no version.
    func check(_ shown: UInt64?) -> String? {
        defer { calls = 0 }
        if let failure { return failure }
        if commits > 0 { return "is not notified of \(commits) commits" }
        guard let shown, !allowsJump else { return nil }
        return known == shown ? nil : "was notified of version \(known), but the Realm shows \(shown)"
    }
}
