import MartletSQLite

/// The values in the file that could not be converted, and that the user's code has not yet replaced. Each value is
/// identified by type, property and object. Types are given by their names in the program.
struct UnconvertedValues {
    private struct Place: Hashable {
        let type: String
        let property: PropertyIndex
    }

    private var keys: [Place: KeySet] = [:]

    mutating func insert(_ key: ObjectKey, _ property: PropertyIndex, of type: String) {
        keys[Place(type: type, property: property), default: []].insert(key)
    }

    mutating func markResolved(_ key: ObjectKey, _ property: PropertyIndex, of type: String) {
        keys[Place(type: type, property: property)]?.remove(key)
    }

    /// Removes the values of a type that the user's code has deleted or assigned.
    mutating func markResolved(_ changes: TableChanges, of type: String) {
        for place in keys.keys where place.type == type {
            for key in changes.deleted { keys[place]?.remove(key) }
            for group in changes.modified where group.columns.contains(place.property) {
                for key in group.keys { keys[place]?.remove(key) }
            }
        }
    }

    /// The properties that still have unconverted values, and their objects. They are sorted by type and property.
    var remaining: [(type: String, property: PropertyIndex, keys: KeySet)] {
        keys.filter { !$0.value.isEmpty }.map { ($0.key.type, $0.key.property, $0.value) }
            .sorted { ($0.type, $0.property) < ($1.type, $1.property) }
    }
}
