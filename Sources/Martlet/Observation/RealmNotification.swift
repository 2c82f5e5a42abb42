extension Realm {
    /// A notification of a Realm's observers.
    public enum Notification: Sendable {
        /// The Realm has committed, or advanced to another version.
        case didChange
        /// A newer version exists, and `autorefresh` is off: call `refresh()`.
        case refreshRequired
    }
}
