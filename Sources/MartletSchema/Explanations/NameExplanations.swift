/// MRT0201 to MRT0206: what names lead to.
extension RuleExplanation {
    static let unknownKey = RuleExplanation(
        .unknownKey,
        problem: "A key means nothing at this level, or not for this kind of property.",
        reason: """
            A key that is misspelt would be passed over, and what it asks for would not happen. The finding lists the \
            keys that can stand there, or the one that was meant.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primary_key: id
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

    static let wrongShape = RuleExplanation(
        .wrongShape,
        problem: """
            A key holds text where a mapping or a list belongs, or the other way round, or what must be there is missing.
            """,
        reason: """
            The compiler does not guess. The example could mean that each of the two is unique, or both together.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    unique: [room, number]
                    properties:
                      id: ObjectId = new
                      room: Int
                      number: Int

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    unique: [[room, number]]
                    properties:
                      id: ObjectId = new
                      room: Int
                      number: Int

                """))

    static let unknownType = RuleExplanation(
        .unknownType,
        problem: """
            A type is neither built in nor declared in the schema, or it is written as another language writes it: \
            'string', '[String]' or 'Dictionary<String, Int>'.
            """,
        reason: """
            Without the type there is nothing to generate. Names of a schema are global in its folder, so the type may \
            stand in any file of it, but in no other schema.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name: Strng

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

    static let duplicateType = RuleExplanation(
        .duplicateType,
        problem: """
            Two types of the schema bear one name, in one file or in two, or names that differ by case alone, or a type \
            bears the name of a built-in one.
            """,
        reason: """
            All types of a schema become types of one Swift module, and tables of one database, where case does not count.
            """,
        example: .schema(
            wrong: """
                enums:
                  ## How a dog is kept.
                  Dog: [inside, outside]
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new

                """,
            mended: """
                enums:
                  ## How a dog is kept.
                  Keeping: [inside, outside]
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      keeping: Keeping

                """))

    static let unknownName = RuleExplanation(
        .unknownName,
        problem: """
            A key path, a primary key, an index, a 'unique' list, linking objects or the 'unknown' case of an enum names a \
            property or case that does not exist, or a key path goes on where it cannot.
            """,
        reason: """
            Key paths become typed Swift and are checked segment by segment, so that a renamed property is found here and \
            not on the device of a user.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    index: [nme]
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

    static let badLinkingObjects = RuleExplanation(
        .badLinkingObjects,
        problem: """
            'LinkingObjects<Type.property>' names a property that is no link, or no collection of links, to the type it \
            stands in.
            """,
        reason: """
            Linking objects are the objects that point here. A property that points elsewhere, or holds no link, would \
            leave them empty for ever.
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
                      owner: Person?
                  ## Somebody who pays for the food.
                  Person:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      dogs: LinkingObjects<Dog.name>

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name: String
                      owner: Person?
                  ## Somebody who pays for the food.
                  Person:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      dogs: LinkingObjects<Dog.owner>

                """))
}
