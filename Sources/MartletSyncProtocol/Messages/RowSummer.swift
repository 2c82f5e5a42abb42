package import MartletEngine
import MartletValues

/// Calculates the `RowSums` of objects.
///
/// The checksum of a row is calculated from a canonical form. A row of PostgreSQL and the same row in the file of a
/// client have the same canonical form:
///
/// - The canonical form does not contain the primary key, properties with `sync: none`, and linking objects. It does
///   not distinguish a missing value, an empty collection and nil.
/// - Every NaN of a floating-point property has the same bits. Negative zero differs from zero.
/// - The members of a set are sorted by their bytes. In a set of `AnyRealmValue`, numbers are compared by value.
package struct RowSummer {
    private let schema: AgreedSchema
    /// For each type, the properties of which the canonical form consists.
    private let properties: [[PropertySchema]]
    package private(set) var sums = RowSums()

    package init(_ schema: AgreedSchema) {
        self.schema = schema
        properties = schema.types.map { type in
            type.properties.filter { property in
                !property.isLocal && (property.isColumn || property.isCollection) && property.index != type.primaryKey
            }
        }
    }

    /// Adds an object with all of its values. An object of a type that clients do not receive is ignored.
    package mutating func add(_ row: SyncRow) { add(row.address) { row.values[ValuePath($0.index)] } }

    /// Adds an object.
    ///
    /// - Parameter value: called with each property of which the canonical form consists. Returns the value of the
    ///   property; nil if the value is missing.
    package mutating func add(
        _ address: ObjectAddress, _ value: (PropertySchema) throws -> SyncValue?
    ) rethrows {
        guard let type = schema.type(address.type), type.syncMode != .upload, !type.isEmbedded else { return }
        var writer = MessageWriter()
        writer.address(address)
        let key = Self.hash(writer.bytes)
        for property in properties[address.type] {
            guard let value = try value(property), !Self.isNil(value, property) else { continue }
            writer.count(property.index + 1)
            write(value, property, isInside: false, to: &writer)
        }
        let bucket = RowSums.BucketID(type: address.type, number: Int(key >> 58))
        sums.add(bucket, checksum: Self.hash(writer.bytes))
    }

    private static func isNil(_ value: SyncValue, _ property: PropertySchema) -> Bool {
        value == .null || (property.isCollection && (value == .list([]) || value == .map([])))
    }

    // MARK: Canonical form

    private func write(
        _ value: SyncValue, _ property: PropertySchema, isInside: Bool, to writer: inout MessageWriter
    ) {
        if Self.isNil(value, property) { return writer.value(.null as SQLValue) }
        switch (property.kind, value) {
        case (.list, .list(let elements)) where isInside:
            writer.list(elements) { write($1, of: property, to: &$0) }
        case (.list, .list):
            // A list without valid positions is damaged. Its form differs from the form of every list of the service.
            guard let elements = value.elements else { return writer.value(value) }
            writer.list(elements) { writer, element in
                writer.blob(element.position.bytes)
                write(element.value, of: property, to: &writer)
            }
        case (.set, .list(let members)):
            writer.list(encodedMembers(members, property)) { $0.blob($1) }
        case (.map, .map(let entries)):
            writer.list(entries) { writer, entry in
                writer.text(entry.key)
                write(entry.value, of: property, to: &writer)
            }
        default: write(value, of: property, to: &writer)
        }
    }

    // The encoded members of a set in ascending order. If several members are equal in Swift, such as 1 and 1.0 in an
    // `AnyRealmValue`, the result contains only one of them, because the file of a client contains only one.
    private func encodedMembers(_ members: [SyncValue], _ property: PropertySchema) -> [[UInt8]] {
        let encoded = Set(
            members.map { member in
                var writer = MessageWriter()
                if property.isAny, case .scalar(let scalar) = member {
                    writer.value(AnyValue.sortKey(scalar))
                } else {
                    write(member, of: property, to: &writer)
                }
                return writer.bytes
            })
        return encoded.sorted { $0.lexicographicallyPrecedes($1) }
    }

    // Writes a single value, or one element of a collection.
    private func write(_ value: SyncValue, of property: PropertySchema, to writer: inout MessageWriter) {
        switch value {
        case .embedded(let values):
            guard case .embedded(let name) = property.element, let number = schema.number(of: name),
                values.count == schema.types[number].properties.count
            else { return writer.value(value) }
            // 255 is not the first byte of any other value.
            writer.byte(255)
            for inner in properties[number] { write(values[inner.index], inner, isInside: true, to: &writer) }
        case .scalar(let scalar) where property.element.isFloating:
            guard case .real(let number) = FloatingSpecials.decodedElement(scalar) else { return writer.value(scalar) }
            writer.value(SQLValue.real(number.isNaN ? .nan : number))
        default: writer.value(value)
        }
    }

    // MARK: Checksum

    // FNV-1a, and then the last step of SplitMix64. The sums are compared to find mistakes, not attacks: a client that
    // sends wrong sums only loads its own data again.
    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return hash ^ (hash >> 31)
    }
}
