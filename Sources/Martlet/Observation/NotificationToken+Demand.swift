extension NotificationToken {
    /// Nothing is told until `resume`, and nothing is lost: what happens meanwhile comes as one change then. On any thread.
    package func pause() { registration.isPaused = true }

    /// Ends the pause, and has worked out what happened meanwhile. On any thread.
    package func resume() {
        registration.isPaused = false
        (context?.hooks.hub as? ObservationHub)?.signal()
    }
}
