import MartletSchema

/// The explanations of MRT0301 to MRT0305: types, defaults, keys and indexes.
extension RuleExplanation {
    static let badDefault = RuleExplanation(
        .badDefault,
        problem: """
            A default does not have the type of its property, is out of its range, or is written for a link or a \
            collection, which cannot have a default.
            """,
        reason: """
            The default is copied to the Swift code. A default that would not compile there, or would trap at run \
            time, is reported here.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      age: Int8 = 200

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      age: Int16 = 200

                """))

    static let badOptionality = RuleExplanation(
        .badOptionality,
        problem: """
            A collection or a primary key is optional, a link is not optional, or a type is used where it is not \
            allowed, such as embedded objects in a set.
            """,
        reason: """
            A collection is empty instead of nil, and a primary key always has a value. The target of a link can be \
            deleted at any time, and the link then becomes nil.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      mother: Dog

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      mother: Dog?

                """))

    static let badPrimaryKey = RuleExplanation(
        .badPrimaryKey,
        problem: """
            A primary key has a type that is not supported, consists of several properties, or belongs to an embedded \
            object.
            """,
        reason: """
            A primary key is compared exactly and never changes. It is an integer, 'String', 'UUID' or 'ObjectId'. An \
            embedded object is found through its owner and needs no primary key.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: weight
                    properties:
                      weight: Double

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: number
                    properties:
                      number: Int
                      weight: Double

                """))

    static let embedding = RuleExplanation(
        .embedding,
        problem: """
            An embedded object contains itself, directly or through other embedded objects, without an optional or a \
            collection in between. As a warning: no property contains the embedded object.
            """,
        reason: """
            An object that always contains another object of its type would be infinite. An embedded object that no \
            property contains can never be stored.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
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
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
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
            not possible for the error. For the warning, write '# martlet:ignore MRT0304' on the line above, or \
            'MRT0304: off' below 'lint:' and 'rules:' in 'martlet.yaml'.
            """)

    static let badIndex = RuleExplanation(
        .badIndex,
        problem: """
            An index is declared for a type that cannot be indexed, for a property that already has an index, or \
            twice; a 'unique' list is repeated, or contains only the primary key; or 'fullText' is declared for a \
            property that is not a 'String'.
            """,
        reason: "The declaration has no effect. Primary keys and links are indexed without being listed.",
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    index: [id, name]
                    properties:
                      id: ObjectId = new
                      name: String

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    index: [name]
                    properties:
                      id: ObjectId = new
                      name: String

                """))
}
