import CWorkload

/// A person of the benchmark as a Swift program would hold it before storing it.
public struct PersonValues: Sendable {
    public var id: Int
    public var name: String
    public var age: Int
    public var email: String
    public var score: Double
    public var isActive: Bool
    public var createdSeconds: Int

    /// The person with a number: the same in every peer.
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
    /// What the workloads read of a string: enough to have it decoded.
    @inlinable public var firstByte: Int { Int(utf8.first!) }
}
