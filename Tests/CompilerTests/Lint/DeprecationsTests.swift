import MartletSchema
import Testing

@Suite("Lint: Deprecations")
struct DeprecationsTests {
    @Test("deprecations without a message and uses of deprecated types and properties are reported MRT0603")
    func findings() throws {
        try expectFindings(
            of: .deprecation,
            """
            objects:
              Dog:
                index: [old]
            #~          ^^^ warning MRT0603: 'old' is deprecated and still has an index; remove the index
            #~  note @5:24+10 deprecated here
                properties:
                  old: {type: Int, deprecated: true}
            #~                     ^^^^^^^^^^ warning MRT0603: 'old' is deprecated without a message; say what to use instead
            #~  help write 'deprecated: Use other.'
                  fine: {type: Int, deprecated: Use b.}
                  next: Dog?
                keypaths:
                  a: [next.fine]
            #~             ^^^^ warning MRT0603: 'fine' is deprecated and still used here; use what replaces it
            #~  note @6:25+10 deprecated here
              Cat:
                deprecated: Use Dog.
                properties: {old: {type: Int, deprecated: Use b.}}
                keypaths: {a: old}
            projections:
              CatCard:
                of: Cat
            #~      ^^^ warning MRT0603: 'Cat' is deprecated and still used here; use what replaces it
            #~  note @11:5+10 deprecated here
                properties: {a: old}
            #~                  ^^^ warning MRT0603: 'old' is deprecated and still used here; use what replaces it
            #~  note @12:35+10 deprecated here
              OldCard:
                of: Cat
                deprecated: Gone.
                properties: {a: old}
            enums:
              Size: {cases: [a], deprecated: }
            #~                   ^^^^^^^^^^ warning MRT0603: 'Size' is deprecated without a message; say what to use instead
            #~  help write 'deprecated: Use other.'

            """)
    }
}
