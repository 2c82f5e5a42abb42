import MartletSchema

/// The explanations of MRT0501 to MRT0505, which report valid schemas that can be improved.
extension RuleExplanation {
    static let noPrimaryKey = RuleExplanation(
        .noPrimaryKey,
        problem: "An object has no primary key.",
        reason: """
            Without a primary key, an object cannot be found or updated by identity, and importing the same data twice \
            creates duplicates. An append-only log does not need one.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    properties:
                      name: String

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name: String

                """))

    static let indexCost = RuleExplanation(
        .indexCost,
        problem: """
            An index is declared for a property with at most two values, such as a 'Bool', or a type has more than \
            eight indexes.
            """,
        reason: "Each index makes every write slower. An index on a property with few values makes no query faster.",
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    index: [isTrained]
                    properties:
                      id: ObjectId = new
                      isTrained: Bool

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
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
            An object is read as a whole, so each object of a type with many properties uses much memory. A long key \
            path is evaluated again at every change along it.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
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
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
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
        problem: "A type has no '##' line above it, or the line only repeats the name of the type.",
        reason: """
            The lines become the documentation of the Swift class. The finding is a note. By default, notes \
            are shown only with 'preset: strict'. 'martlet lint' does not fail because of the finding unless the \
            configuration contains 'MRT0504: warning' or 'MRT0504: error'.
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
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new

                """))

    static let unusedOrCyclic = RuleExplanation(
        .unusedOrCyclic,
        problem: """
            An enum is used by no property, or links with 'onDelete: cascade' or 'deleteRule: cascade' form a cycle.
            """,
        reason: """
            An enum that nothing uses is probably left over. A cycle of cascades deletes far more than the one object \
            that a program deletes.
            """,
        example: .schema(
            wrong: """
                enums:
                  ## How big an animal grows.
                  Size: [small, medium, large]
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new

                """,
            fixed: """
                enums:
                  ## How big an animal grows.
                  Size: [small, medium, large]
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      size: Size

                """))
}
