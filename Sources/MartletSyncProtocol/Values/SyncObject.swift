package import MartletValues

/// Identifies an object on every replica: its type and its primary key. Row ids differ between replicas.
package struct ObjectAddress: Sendable, Hashable {
    /// The number of the type in the schema that both sides agreed on.
    package let type: Int
    /// The stored form of the primary key.
    package let key: SQLValue

    package init(type: Int, key: SQLValue) {
        self.type = type
        self.key = key
    }
}

/// The path to a value inside an object: the number of a property, followed by the numbers of properties of embedded
/// objects.
package struct ValuePath: Sendable, Hashable {
    package let properties: [Int]

    package init(_ properties: [Int]) { self.properties = properties }
    package init(_ property: Int) { properties = [property] }

    /// True if the two values are the same, or one is inside the other.
    package func overlaps(_ other: ValuePath) -> Bool {
        zip(properties, other.properties).allSatisfy { $0 == $1 }
    }
}

/// A value of a property as it is sent: the stored form, except that a link is the address of its target.
package enum SyncValue: Sendable, Hashable {
    case scalar(SQLValue)
    case link(ObjectAddress)
    /// The values of an embedded object, in the order of its properties.
    case embedded([SyncValue])
    /// A list in an `AnyRealmValue`, or the whole value of a list or set property. See `SyncValue.elements`.
    case list([SyncValue])
    /// A map in an `AnyRealmValue`, or the whole value of a map property. The entries are sorted by key, and each key
    /// occurs once.
    case map([MapEntry])

    package static let null = SyncValue.scalar(.null)
}

/// A key of a map with its value.
package struct MapEntry: Sendable, Hashable {
    package let key: String
    package let value: SyncValue

    package init(key: String, value: SyncValue) { (self.key, self.value) = (key, value) }

    // Texts that Unicode considers equivalent are different keys.
    package static func == (left: MapEntry, right: MapEntry) -> Bool {
        left.key.utf8.elementsEqual(right.key.utf8) && left.value == right.value
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(SQLValue.text(key))
        hasher.combine(value)
    }

    /// The entries in ascending order of their keys. Keys are ordered by code points.
    package static func sorted(_ entries: [MapEntry]) -> [MapEntry] {
        entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}

/// One change of an object, as a client uploads it.
package enum SyncOperation: Sendable, Hashable {
    /// Creates an object, or sets these values of an object that exists already.
    case create(ObjectAddress, [ValuePath: SyncValue])
    case update(ObjectAddress, [ValuePath: SyncValue])
    case delete(ObjectAddress)
    /// Adds an amount to a counter: an integer property with `merge: add`.
    case add(ObjectAddress, ValuePath, Int64)
    case insertElement(ObjectAddress, ValuePath, ListPosition, SyncValue)
    case removeElement(ObjectAddress, ValuePath, ListPosition)
    /// Replaces an element of a list, unless it was removed.
    case setElement(ObjectAddress, ValuePath, ListPosition, SyncValue)
    case insertMember(ObjectAddress, ValuePath, SyncValue)
    case removeMember(ObjectAddress, ValuePath, SyncValue)
    case setEntry(ObjectAddress, ValuePath, key: String, SyncValue)
    case removeEntry(ObjectAddress, ValuePath, key: String)

    package var address: ObjectAddress {
        switch self {
        case .create(let address, _), .update(let address, _), .delete(let address), .add(let address, _, _),
            .insertElement(let address, _, _, _), .removeElement(let address, _, _), .setElement(let address, _, _, _),
            .insertMember(let address, _, _), .removeMember(let address, _, _), .setEntry(let address, _, _, _),
            .removeEntry(let address, _, _):
            address
        }
    }
}
