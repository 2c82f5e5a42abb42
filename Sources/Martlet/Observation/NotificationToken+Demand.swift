import MartletEngine

extension NotificationToken {
    /// Pauses the notifications until `resume`. Changes made during the pause are merged into one change. Called on any
    /// thread.
    ///
    /// There is one exception: if a write excludes the observer with `withoutNotifying`, the changes before this write
    /// are delivered during the pause.
    package func pause() { registration.isPaused = true }

    /// Ends the pause. Later changes are delivered; changes made during the pause are delivered after `catchUp`. Called
    /// on any thread.
    package func resume() { registration.isPaused = false }

    /// Starts the computation of the changes made during the pause. Called on any thread.
    package func catchUp() {
        context?.coordinator.environment.yield(.beforeCatchUp)
        hub?.signal()
    }

    /// True while a paused observer is called with the changes that precede a write with `withoutNotifying`. The
    /// observer must store these changes until its subscriber requests a value. Used on the executor of the Realm.
    package var isPredelivering: Bool { hub?.isPredelivering ?? false }

    /// Runs `body` on the executor of the Realm: immediately if this is the current executor and `asynchronously` is
    /// false, otherwise later.
    package func perform(asynchronously: Bool = false, _ body: @escaping @Sendable () -> Void) {
        guard let context else { return }
        if !asynchronously, context.confinement.isCurrent { return body() }
        hub?.schedule(body)
    }

    private var hub: ObservationHub? { context?.hooks.hub as? ObservationHub }
}
