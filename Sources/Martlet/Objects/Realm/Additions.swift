import MartletEngine

/// The state of the calls of `add` and `create` that are in progress.
struct Additions {
    /// An object whose links were not added yet. It either has a new row, or its values are to be assigned to an
    /// existing row.
    struct DeferredAddition {
        let object: ObjectBase
        let key: ObjectKey
        let policy: Realm.UpdatePolicy
        /// The number of rows that the open write had deleted when the addition was deferred.
        let deletionCount: Int
    }

    /// The depth of the recursion of `add`.
    var depth = 0
    /// The objects whose links will be added when the recursion has ended.
    var deferred: [DeferredAddition] = []
    /// Objects that are being added as updates, with the keys of the existing rows. `add` does not visit them again if
    /// links form a cycle.
    var updating: [ObjectIdentifier: ObjectKey] = [:]
    /// Embedded objects that were created from untyped values and are not yet assigned to their owner.
    var ownerless: Set<ObjectIdentifier> = []

    /// True if the links of the next object must be deferred. A chain of links may be too long for the stack, so the
    /// recursion is limited.
    ///
    /// After the first deferred object, all later objects are deferred too. This keeps the order of the objects, which
    /// matters if two of them have the same primary key.
    var mustDeferLinks: Bool { depth > 64 || depth > 1 && !deferred.isEmpty }
}
