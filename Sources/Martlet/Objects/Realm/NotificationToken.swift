import Synchronization

/// A running observation. It ends when the token is deallocated or `invalidate()` is called.
// Sendable: the registration is sendable, and `context` is only compared.
public final class NotificationToken: @unchecked Sendable {
    let registration = Registration()
    @WeakContext var context: RealmContext?

    init(_ context: RealmContext?, cancel: @escaping @Sendable () -> Void = {}) {
        self.context = context
        registration.whenEnded(cancel)
    }

    deinit { registration.end() }

    /// Ends the observation. The observer is not called any more, even if a change was already computed. This method
    /// can be called on any thread.
    ///
    /// - Returns: True on the first call.
    @discardableResult
    public func invalidate() -> Bool { registration.end() }

    var isInvalidated: Bool { registration.isEnded }
}

/// The state of one observation, shared by its token and by the code that calls the observer, on any thread.
final class Registration: Sendable {
    private let hasEnded = Atomic<Bool>(false)
    private let hasPaused = Atomic<Bool>(false)
    private let cleanup = Mutex<[@Sendable () -> Void]>([])
    private let lastCallHandler = Mutex<(@Sendable () -> Void)?>(nil)

    var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

    /// True while the observer does not request another change. Changes in the meantime are merged. They are delivered
    /// when the observer requests the next change.
    var isPaused: Bool {
        get { hasPaused.load(ordering: .acquiring) }
        set { hasPaused.store(newValue, ordering: .releasing) }
    }

    /// Runs `body` when the observation ends, or immediately if it has ended.
    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        cleanup.withLock { $0.append(body) }
        if isEnded { runCleanup() }
    }

    /// Sets a closure that `noChangeCanFollow` runs.
    func whenNoChangeCanFollow(_ body: @escaping @Sendable () -> Void) { lastCallHandler.withLock { $0 = body } }

    /// Called when no further change is possible, because the observed object, or the owner of the observed collection,
    /// was deleted.
    func noChangeCanFollow() { lastCallHandler.withLock { $0 }?() }

    /// Ends the observation. Returns true on the first call.
    @discardableResult
    func end() -> Bool {
        guard hasEnded.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
        else {
            return false
        }
        runCleanup()
        return true
    }

    // Each closure runs once. The closures run and are released outside of the lock, because the release of a closure
    // may end other observations.
    private func runCleanup() {
        let bodies = cleanup.withLock { bodies in
            defer { bodies = [] }
            return bodies
        }
        for body in bodies { body() }
    }
}
