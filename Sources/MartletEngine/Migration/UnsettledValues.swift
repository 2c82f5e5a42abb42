import MartletSQLite

/// The values in the file that did not convert and have not been given another by the migration yet: by type, property
/// and object, all in present names.
struct UnsettledValues {
    private struct Place: Hashable {
        let type: String
        let property: PropertyIndex
    }

    private var keys: [Place: KeySet] = [:]

    mutating func insert(_ key: ObjectKey, _ property: PropertyIndex, of type: String) {
        keys[Place(type: type, property: property), default: []].insert(key)
    }

    mutating func settle(_ key: ObjectKey, _ property: PropertyIndex, of type: String) {
        keys[Place(type: type, property: property)]?.remove(key)
    }

    /// Takes out what a part of the migration has deleted or assigned.
    mutating func settle(_ changes: TableChanges, of type: String) {
        for place in keys.keys where place.type == type {
            for key in changes.deleted { keys[place]?.remove(key) }
            for group in changes.modified where group.columns.contains(place.property) {
                for key in group.keys { keys[place]?.remove(key) }
            }
        }
    }

    /// The properties and objects that are left, in order.
    var remaining: [(type: String, property: PropertyIndex, keys: KeySet)] {
        keys.filter { !$0.value.isEmpty }.map { ($0.key.type, $0.key.property, $0.value) }
            .sorted { ($0.type, $0.property) < ($1.type, $1.property) }
    }
}
