import MartletEngine

/// The state of the additions of objects that are in progress.
struct Additions {
    /// An object whose row was inserted, and whose links were not added yet.
    struct Waiting {
        let object: ObjectBase
        let key: ObjectKey
        let policy: Realm.UpdatePolicy
    }

    /// The depth of the recursion of `add`.
    var depth = 0
    /// The objects that wait for the end of the recursion.
    var waiting: [Waiting] = []
    /// Objects that are being added as updates, with the keys of their rows. They end the recursion in a cycle of links.
    var updating: [ObjectIdentifier: ObjectKey] = [:]
    /// Embedded objects that were created from untyped values and are not yet assigned to their owner.
    var ownerless: Set<ObjectIdentifier> = []
    /// Objects that are being copied by `create`, with their copies.
    var copies: [ObjectIdentifier: ObjectBase] = [:]

    /// A chain of links may be too long for the stack, so the recursion is limited.
    var isDeep: Bool { depth > 64 }
}
