import MartletSchema
import Testing

@Suite("Lint: Plurality")
struct PluralityTests {
    @Test("singular names of collections, and plural names of links and types, are found MRT0403")
    func findings() throws {
        try expectFindings(
            of: .plurality,
            """
            objects:
              Dogs:
            #~^^^^ note MRT0403: type 'Dogs' is plural; name it in the singular
                properties:
                  friend: List<Dogs>
            #~    ^^^^^^ note MRT0403: collection 'friend' is singular; name it in the plural
                  owners: Dogs?
            #~    ^^^^^^ note MRT0403: link 'owners' is plural and leads to one object; name it in the singular
                  address: Dogs?
                  children: List<Dogs>
                  bonus: Dogs?
                  weight: Map<Double>
                  names: String
                  sibling: LinkingObjects<Dogs.address>
            #~    ^^^^^^^ note MRT0403: collection 'sibling' is singular; name it in the plural

            """)
    }

    @Test(
        "words that end like a plural but are singular are accepted MRT0403",
        arguments: ["status", "class", "series", "analysis", "gps"])
    func singular(name: String) throws {
        try expectFindings(of: .plurality, "objects:\n  Dog:\n    properties: {\(name): Dog?}\n")
    }
}
