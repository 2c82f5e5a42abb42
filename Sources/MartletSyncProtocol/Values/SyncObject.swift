package import MartletValues

/// The type and the primary key of an object, which identify the object in every file and in the database. The row keys
/// of an object differ between files.
package struct ObjectAddress: Sendable, Hashable {
    /// The number of the type in `AgreedSchema`.
    package let type: Int
    /// The stored form of the primary key.
    package let key: SQLValue

    package init(type: Int, key: SQLValue) {
        self.type = type
        self.key = key
    }
}

/// The path to a value inside an object: the number of a property, followed by the numbers of properties of embedded
/// objects. Paths are ordered by their numbers.
package struct ValuePath: Sendable, Hashable, Comparable {
    /// The number of the property of the object.
    package let first: Int
    /// The numbers of the properties of embedded objects. Most paths have none, and an empty array needs no memory.
    package let inner: [Int]

    /// - Parameter properties: at least one number.
    package init(_ properties: [Int]) {
        precondition(!properties.isEmpty, "a path has no components")
        (first, inner) = (properties[0], properties.count == 1 ? [] : Array(properties.dropFirst()))
    }

    package init(_ property: Int) { (first, inner) = (property, []) }

    /// All numbers of the path.
    package var properties: [Int] { [first] + inner }

    package var count: Int { 1 + inner.count }

    /// True if both paths lead to the same value, or if one value is inside the other value.
    package func overlaps(_ other: ValuePath) -> Bool {
        first == other.first && zip(inner, other.inner).allSatisfy { $0 == $1 }
    }

    package static func < (left: ValuePath, right: ValuePath) -> Bool {
        left.first == right.first ? left.inner.lexicographicallyPrecedes(right.inner) : left.first < right.first
    }
}

/// A value of a property in the form that messages contain. This is the stored form of the value, but a link is the
/// address of its target.
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

    // Keys are compared byte by byte: texts that Unicode considers equivalent are different keys.
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
    /// Replaces an element of a list. Has no effect if the element was removed.
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
