extension Realm {
    /// What happened to a Realm.
    public enum Notification: Sendable {
        /// It shows something else than before.
        case didChange
        /// There is a newer version, and `autorefresh` is off: call `refresh()`.
        case refreshRequired
    }
}
