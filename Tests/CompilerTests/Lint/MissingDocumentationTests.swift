import MartletSchema
import Testing

@Suite("Lint: MissingDocumentation")
struct MissingDocumentationTests {
    @Test("missing or meaningless documentation is found MRT0504")
    func findings() throws {
        try expectFindings(
            of: .missingDocumentation,
            """
            enums:
              ## Size.
              Size: [a]
            #~^^^^ note MRT0504: the documentation of 'Size' repeats its name; say what it is for
              Level:
            #~^^^^^ note MRT0504: 'Level' has no documentation; write a '##' line above it
                doc: ""
                cases: [a]
            objects:
              ## The big dog.
              BigDog:
            #~^^^^^^ note MRT0504: the documentation of 'BigDog' repeats its name; say what it is for
                properties: {a: Int}
              Cat:
            #~^^^ note MRT0504: 'Cat' has no documentation; write a '##' line above it
                properties: {a: Int}
              ## A bird that sings.
              Bird:
                properties: {a: Int}
              # Private.
              Fish:
            #~^^^^ note MRT0504: 'Fish' has no documentation; write a '##' line above it
                properties: {a: Int}
            projections:
              DogCard:
            #~^^^^^^^ note MRT0504: 'DogCard' has no documentation; write a '##' line above it
                of: BigDog
                properties: {a: a}

            """)
    }
}
