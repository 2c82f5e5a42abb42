import MartletSchema
import Testing

@Suite("Lint: TooWide")
struct TooWideTests {
    @Test("key paths of projections with more than four segments are found MRT0503")
    func findings() throws {
        try expectFindings(
            of: .tooWide,
            """
            objects:
              Dog:
                properties: {next: Dog?, id: Int}
                keypaths: {far: next.next.next.next.next.id}
            projections:
              DogCard:
                of: Dog
                properties:
                  a: next.next.next.id
                  b: next.next.next.next.id
            #~       ^^^^^^^^^^^^^^^^^^^^^^ warning MRT0503: this key path has 5 segments; base the projection on a type that is closer to the last property, or shorten the path

            """)
    }

    @Test(
        "types with more than 100 properties are found MRT0503",
        arguments: [("objects", 100), ("objects", 101), ("embedded", 101)])
    func properties(section: String, count: Int) throws {
        let isTooWide = count > 100
        let finding = "#~^^^ warning MRT0503: 'Dog' has \(count) properties; split off embedded objects\n"
        let properties = (0..<count).map { "      p\($0): Int\n" }.joined()
        try expectFindings(
            of: .tooWide, "\(section):\n  Dog:\n\(isTooWide ? finding : "")    properties:\n\(properties)")
    }
}
