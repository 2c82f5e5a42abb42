/// MRT0501 to MRT0505: valid schemas that can be improved.
extension RuleExplanation {
    static let noPrimaryKey = RuleExplanation(
        .noPrimaryKey,
        problem: "An object has no primary key.",
        reason: """
            Without one an object cannot be found or updated by identity, and importing the same data twice doubles it. A \
            log that is only ever added to can do without.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    properties:
                      name: String

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name: String

                """))

    static let indexCost = RuleExplanation(
        .indexCost,
        problem: """
            An index stands on a property of two values, such as a 'Bool', or a type has more than eight indexes.
            """,
        reason: """
            Each index makes every write slower. One that tells few objects apart makes no query faster.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    index: [isTrained]
                    properties:
                      id: ObjectId = new
                      isTrained: Bool

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      isTrained: Bool

                """))

    static let tooWide = RuleExplanation(
        .tooWide,
        problem: """
            A type has more than 100 properties, or a key path of a projection has more than four segments.
            """,
        reason: """
            An object is read as a whole, so a wide one costs memory wherever it is shown. A long path is asked for at \
            every change of anything along it.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name: String
                      mother: Dog?
                projections:
                  ## What the page of ancestors shows.
                  Ancestor:
                    of: Dog
                    properties:
                      oldest: mother.mother.mother.mother.name

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name: String
                      mother: Dog?
                projections:
                  ## What the page of ancestors shows.
                  Ancestor:
                    of: Dog
                    properties:
                      oldest: mother.mother.mother.name

                """))

    static let missingDocumentation = RuleExplanation(
        .missingDocumentation,
        problem: """
            No '##' line stands above a type, or the line says no more than the name of the type.
            """,
        reason: """
            The lines become the documentation of the Swift class, where people read what the type is for. It is a note, \
            which 'preset: strict' shows: 'martlet lint' does not fail of it unless 'MRT0504: warning' asks for that.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new

                """))

    static let unreachable = RuleExplanation(
        .unreachable,
        problem: """
            No property uses an enum, or links with 'onDelete: cascade' or 'deleteRule: cascade' lead back to where they \
            began.
            """,
        reason: """
            A type that nothing uses is a leftover. A circle of cascades deletes far more than the one object that \
            somebody meant to delete.
            """,
        example: .schema(
            wrong: """
                enums:
                  ## How big an animal grows.
                  Size: [small, medium, large]
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new

                """,
            mended: """
                enums:
                  ## How big an animal grows.
                  Size: [small, medium, large]
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      size: Size

                """))
}
