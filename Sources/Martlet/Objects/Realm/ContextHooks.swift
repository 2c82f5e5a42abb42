import MartletEngine

/// The callbacks for observation. The context stores them, and the code in `Sources/Martlet/Observation`, which is a
/// higher layer, sets them.
struct ContextHooks {
    /// Called when a write begins. Delivers pending notifications up to the version from which the write starts.
    var deliverBeforeWrite: () -> Void = {}
    /// Moves to the newest version and notifies observers. Returns false if there was no newer version.
    var refresh: () -> Bool = { false }
    /// Releases a version that was opened in the background and that no observer needs.
    var releaseUnneeded: () -> Void = {}
    /// Called before a commit of this Realm. The parameter identifies the observers that are not notified of the
    /// commit.
    ///
    /// Not called for a group of writes that become durable together, because the versions between them cannot be
    /// opened. A group can contain a silent write only if the block of a `writeAsync` calls
    /// `commitWrite(withoutNotifying:)`. The silenced observers are then notified of this write, together with the
    /// writes that were sealed before it.
    var willCommit: (Set<ObjectIdentifier>) -> Void = { _ in }
    /// Called after a commit of one or several writes of this Realm. The parameters are the observers that are not
    /// notified of the last write, and the versions of the writes in ascending order.
    var committed: (Set<ObjectIdentifier>, [Version]) -> Void = { _, _ in }
    /// Called after a write of this Realm has ended without changes. The parameter identifies the observers that are
    /// not notified.
    var endedUnchanged: (Set<ObjectIdentifier>) -> Void = { _ in }
    /// True while collections or objects of this Realm are observed.
    var hasObservers: () -> Bool = { false }
    /// The object that has set the callbacks. This property keeps the object alive.
    var hub: AnyObject?
    /// Called when the context is deallocated.
    var closed: () -> Void = {}
    /// Called after a write of this Realm was rolled back.
    var cancelled: () -> Void = {}
    /// True inside an observer callback. Asynchronous writes then wait, `invalidate()` does nothing, and opening the
    /// file again with classes that need a newer version throws.
    var isDelivering: () -> Bool = { false }
}
