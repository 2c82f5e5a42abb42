package import MartletEngine

/// The object types on which a client and the service agreed. Messages and conditions name a type by its position here,
/// and a property by its index in the type.
package struct AgreedSchema: Sendable {
    package let types: [ObjectTypeSchema]
    private let numbers: [String: Int]

    /// - Parameter types: the types of one schema. Their names are unique.
    package init(_ types: [ObjectTypeSchema]) {
        self.types = types
        numbers = Dictionary(types.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The number of the type with this name; nil if there is none.
    package func number(of name: String) -> Int? { numbers[name] }

    /// The type with this number; nil if there is none.
    package func type(_ number: Int) -> ObjectTypeSchema? { types.indices.contains(number) ? types[number] : nil }

    package func type(named name: String) -> ObjectTypeSchema? { numbers[name].map { types[$0] } }

    /// The primary key of the type with this name; nil if there is no such type, or if it has no primary key.
    package func primaryKey(of name: String) -> PropertySchema? {
        type(named: name).flatMap { type in type.primaryKey.map { type.properties[$0] } }
    }
}
