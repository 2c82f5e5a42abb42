extension Realm {
    /// The reason why an observer of a Realm is called.
    public enum Notification: Sendable {
        /// The Realm has committed, or advanced to another version.
        case didChange
        /// A newer version exists, and `autorefresh` is off. Call `refresh()` to move to that version.
        case refreshRequired
    }
}
