import MartletEngine

/// The key-value observers of one accessor. Kept low; what registers them lives in the observation room.
final class KeyValueObservers {
    /// One observed key. `property` is -1 for `isInvalidated`.
    struct Registration {
        let id: UInt64
        let property: Int
        /// The edit is known when a collection was changed on this Realm.
        let will: (ObjectBase, ListEdit?) -> Void
        let did: (ObjectBase, ListEdit?) -> Void
    }

    static let invalidation = -1
    private var registrations: [Registration] = []
    private var lastID: UInt64 = 0

    var isEmpty: Bool { registrations.isEmpty }

    func add(
        _ property: Int, will: @escaping (ObjectBase, ListEdit?) -> Void, did: @escaping (ObjectBase, ListEdit?) -> Void
    ) -> UInt64 {
        lastID += 1
        registrations.append(Registration(id: lastID, property: property, will: will, did: did))
        return lastID
    }

    /// False when there is no such registration.
    @discardableResult
    func remove(_ id: UInt64) -> Bool {
        guard let position = registrations.firstIndex(where: { $0.id == id }) else { return false }
        registrations.remove(at: position)
        return true
    }

    // MARK: One property

    func willChange(_ object: ObjectBase, _ property: Int, _ edit: ListEdit? = nil) {
        for registration in registrations where registration.property == property { registration.will(object, edit) }
    }

    func didChange(_ object: ObjectBase, _ property: Int, _ edit: ListEdit? = nil) {
        for registration in registrations where registration.property == property && isRegistered(registration.id) {
            registration.did(object, edit)
        }
    }

    // MARK: A row

    // Invalidation comes first here and last after the change.
    func willChange(_ object: ObjectBase, columns: ColumnSet, isGone: Bool) {
        if isGone { willChange(object, Self.invalidation) }
        for registration in registrations where registration.property >= 0 && columns.contains(registration.property) {
            registration.will(object, nil)
        }
    }

    func didChange(_ object: ObjectBase, columns: ColumnSet, isGone: Bool) {
        for registration in registrations
        where !isGone && registration.property >= 0 && columns.contains(registration.property) && isRegistered(registration.id) {
            registration.did(object, nil)
        }
        if isGone { didChange(object, Self.invalidation) }
    }

    private func isRegistered(_ id: UInt64) -> Bool { registrations.contains { $0.id == id } }
}
