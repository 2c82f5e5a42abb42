import MartletEngine

extension NotificationToken {
    /// Nothing is told until `resume`, and nothing is lost: what happens meanwhile comes as one change then. On any thread.
    ///
    /// But for what leads to a write that is silent for the observer: that is told ahead.
    package func pause() { registration.isPaused = true }

    /// Ends the pause: what happens from now on is told, and after `catchUp` what happened meanwhile. On any thread.
    package func resume() { registration.isPaused = false }

    /// Has worked out what happened in a pause that is over. On any thread.
    package func catchUp() {
        context?.coordinator.environment.yield(.beforeCatchUp)
        hub?.signal()
    }

    /// True while the observer is told in spite of the pause, inside of a write: of what is to be kept until it is asked
    /// for. Used where the Realm belongs.
    package var isTellingAhead: Bool { hub?.isTellingAhead ?? false }

    /// Runs `body` where the Realm belongs: at once when that is here, soon otherwise, or when it is to be soon.
    package func perform(soon: Bool = false, _ body: @escaping @Sendable () -> Void) {
        guard let context else { return }
        if !soon, context.confinement.isCurrent { return body() }
        hub?.schedule(body)
    }

    private var hub: ObservationHub? { context?.hooks.hub as? ObservationHub }
}
