/// MRT0301 to MRT0305: types, defaults, keys and indexes.
extension RuleExplanation {
    static let badDefault = RuleExplanation(
        .badDefault,
        problem: """
            A default is no value of the type of its property, does not fit its range, or stands where none can: at a \
            link or a collection.
            """,
        reason: """
            The default becomes Swift code as it stands. What would not compile there, or would trap, is found here.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      age: Int8 = 200

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      age: Int16 = 200

                """))

    static let badOptionality = RuleExplanation(
        .badOptionality,
        problem: """
            A collection or a primary key is optional, a link is not, or a type stands where it cannot, such as embedded \
            objects in a set.
            """,
        reason: """
            A collection is never nil but empty, a primary key always has a value, and the target of a link can be \
            deleted at any time, which leaves nil behind.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      mother: Dog

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      mother: Dog?

                """))

    static let badPrimaryKey = RuleExplanation(
        .badPrimaryKey,
        problem: """
            A primary key is of a type that cannot be one, is made of several properties, or belongs to an embedded object.
            """,
        reason: """
            A primary key is compared exactly and never changes: a whole number, 'String', 'UUID' or 'ObjectId'. An \
            embedded object is found through its owner and needs none.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: weight
                    properties:
                      weight: Double

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: number
                    properties:
                      number: Int
                      weight: Double

                """))

    static let embedding = RuleExplanation(
        .embedding,
        problem: """
            An embedded object contains itself, at once or through others, with neither an optional nor a collection \
            between. As a warning: no property holds the embedded object.
            """,
        reason: """
            An object that always contains another of its kind has no end. One that nothing holds can never be stored.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      collar: Collar?
                embedded:
                  ## What a dog wears.
                  Collar:
                    properties:
                      spare: Collar

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      collar: Collar?
                embedded:
                  ## What a dog wears.
                  Collar:
                    properties:
                      spare: Collar?

                """),
        silencing: """
            not possible where it is an error. Where it is a warning, write '# martlet:ignore MRT0304' on the line above, \
            or 'MRT0304: off' below 'lint:' and 'rules:' in 'martlet.yaml'.
            """)

    static let badIndex = RuleExplanation(
        .badIndex,
        problem: """
            An index is asked for on a type that cannot have one, on a property that has one, or twice; or 'fullText' \
            stands at something that is no text.
            """,
        reason: """
            The line does nothing. Primary keys and links are indexed without being listed.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    index: [id, name]
                    properties:
                      id: ObjectId = new
                      name: String

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    index: [name]
                    properties:
                      id: ObjectId = new
                      name: String

                """))
}
