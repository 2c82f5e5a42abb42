import CWorkload

/// The values of a person before it is stored.
public struct PersonValues: Sendable {
    public var id: Int
    public var name: String
    public var age: Int
    public var email: String
    public var score: Double
    public var isActive: Bool
    public var createdSeconds: Int

    /// Computes the values of the person with the given number. All peers (the compared libraries) store equal values.
    public init(number: Int) {
        var person = workload_person()
        workload_make_person(Int64(number), &person)
        id = Int(person.id)
        name = withUnsafeBytes(of: person.name) { String(decoding: $0, as: UTF8.self) }
        age = Int(person.age)
        email = withUnsafeBytes(of: person.email) { String(decoding: $0, as: UTF8.self) }
        score = person.score
        isActive = person.is_active
        createdSeconds = Int(person.created_seconds)
    }
}

extension String {
    /// The first UTF-8 byte. The workloads read this byte, so that every peer has to create the string.
    @inlinable public var firstByte: Int { Int(utf8.first!) }
}
