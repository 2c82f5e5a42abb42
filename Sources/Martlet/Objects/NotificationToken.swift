import Synchronization

/// Keeps an observation alive: it ends with the token, or with `invalidate()`.
// Sendable: the registration is, and `context` is only compared.
public final class NotificationToken: @unchecked Sendable {
    let registration = Registration()
    @Loose var context: RealmContext?

    init(_ context: RealmContext?, cancel: @escaping @Sendable () -> Void = {}) {
        self.context = context
        registration.whenEnded(cancel)
    }

    deinit { registration.end() }

    /// Ends the observation: nothing is called any more, even if it was already computed. From any thread.
    ///
    /// Returns true the first time.
    @discardableResult
    public func invalidate() -> Bool { registration.end() }

    var isInvalidated: Bool { registration.isEnded }
}

/// Whether an observation goes on: shared by its token and by those who call it, on whatever thread they are.
final class Registration: Sendable {
    private let hasEnded = Atomic<Bool>(false)
    private let hasPaused = Atomic<Bool>(false)
    private let cleanup = Mutex<[@Sendable () -> Void]>([])

    var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

    /// True while whoever is told has not asked for more: what happens meanwhile is told at once, then.
    var isPaused: Bool {
        get { hasPaused.load(ordering: .acquiring) }
        set { hasPaused.store(newValue, ordering: .releasing) }
    }

    /// Runs `body` when the observation ends, or now if it has.
    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        cleanup.withLock { $0.append(body) }
        if isEnded { runCleanup() }
    }

    /// True the first time.
    @discardableResult
    func end() -> Bool {
        guard hasEnded.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
        else {
            return false
        }
        runCleanup()
        return true
    }

    // Each once, and outside of the lock: what is released may end other observations.
    private func runCleanup() {
        let bodies = cleanup.withLock { bodies in
            defer { bodies = [] }
            return bodies
        }
        for body in bodies { body() }
    }
}
