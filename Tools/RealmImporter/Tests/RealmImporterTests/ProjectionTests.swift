import Testing

@Suite("projections")
struct ProjectionTests {
    private static let model = """
        class Dog: Object { @Persisted var name: String; @Persisted var owner: Person? }
        class Person: Object {
            @Persisted var name: String
            @Persisted var address: Address?
            @Persisted var friends: List<Person>
            var title: String { name }
        }
        class Address: EmbeddedObject { @Persisted var city: String }

        """

    @Test("key paths omit the parts that only Swift needs")
    func paths() throws {
        let sample = try Sample(
            Self.model + """
                /// A row.
                class Row: Projection<Person> {
                    /// Of the person.
                    @Projected(\\Person.name) var name
                    @Projected(\\Person.address?.city) var city
                    @Projected(\\.address!.city) var town: String
                    @Projected(\\Person.friends.projectTo.name) var friends: ProjectedCollection<String>
                }
                """)
        #expect(
            sample.yaml.hasSuffix(
                """
                projections:
                  ## A row.
                  Row:
                    of: Person
                    properties:
                      ## Of the person.
                      name: name
                      city: address.city
                      town: address.city
                      friends: friends.name

                """))
    }

    @Test("paths that the schema does not support are omitted MRT0205")
    func brokenPaths() throws {
        let sample = try Sample(
            Self.model + """
                class Row: Projection<Person> {
                    @Projected(\\Person.name) var name
                    @Projected(\\Person.title) var title
                    @Projected(\\Person.friends[0].name) var first
                    @Projected(\\Person.name.localizedUppercase) var capitals
                    func make() {}
                }
                class Lost: Projection<Stranger> { @Projected(\\Stranger.name) var name }
                """)
        #expect(sample.yaml.hasSuffix("  Row:\n    of: Person\n    properties:\n      name: name\n"))
        #expect(sample.findings.map { $0.prefix { $0 != ":" } } == ["6", "11", "12", "13", "14", "16"])
    }
}
