import Synchronization

/// Keeps an observation alive: it ends with the token, or with `invalidate()`.
// Sendable: `isEnded` is atomic, `cancel` is called once and may be called on any thread, `context` is only compared.
public final class NotificationToken: @unchecked Sendable {
    private let isEnded = Atomic<Bool>(false)
    private let cancel: @Sendable () -> Void
    weak var context: RealmContext?

    init(_ context: RealmContext?, cancel: @escaping @Sendable () -> Void = {}) {
        self.context = context
        self.cancel = cancel
    }

    deinit { invalidate() }

    /// Ends the observation: nothing is called any more, even if it was already computed. From any thread.
    ///
    /// Returns true the first time.
    @discardableResult
    public func invalidate() -> Bool {
        guard isEnded.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged else { return false }
        cancel()
        return true
    }

    var isInvalidated: Bool { isEnded.load(ordering: .acquiring) }
}
