import MartletSchema

/// The explanations of MRT0201 to MRT0206: keys, values, types and names that are unknown, duplicate or of the wrong
/// kind.
extension RuleExplanation {
    static let unknownKey = RuleExplanation(
        .unknownKey,
        problem: "A key is unknown at this level, or is not allowed for this kind of property.",
        reason: """
            A misspelled key would otherwise be ignored, and its setting would have no effect. The finding lists the \
            allowed keys, or suggests the intended one.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primary_key: id
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

    static let wrongShape = RuleExplanation(
        .wrongShape,
        problem: """
            A key has text where a mapping or a list is required, or the reverse, or a required value is missing.
            """,
        reason: """
            The compiler does not guess. The example could mean that each of the two values is unique, or that their \
            combination is.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    unique: [room, number]
                    properties:
                      id: ObjectId = new
                      room: Int
                      number: Int

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
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
            A type is neither built in nor declared in the schema, or it is written in the syntax of another language: \
            'string', '[String]' or 'Dictionary<String, Int>'.
            """,
        reason: """
            Code cannot be generated for an unknown type. Names are global in a schema, so the type can be declared in \
            any file of the schema folder, but not in another schema.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name: Strng

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

    static let duplicateType = RuleExplanation(
        .duplicateType,
        problem: """
            Two types of the schema have the same name, in one file or in two, or names that differ only in case, or a \
            type has the name of a built-in type.
            """,
        reason: """
            All types of a schema become types of one Swift module and tables of one database, where case is not \
            significant.
            """,
        example: .schema(
            wrong: """
                enums:
                  ## How a dog is kept.
                  Dog: [inside, outside]
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new

                """,
            fixed: """
                enums:
                  ## How a dog is kept.
                  Keeping: [inside, outside]
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      keeping: Keeping

                """))

    static let unknownName = RuleExplanation(
        .unknownName,
        problem: """
            A key path, a primary key, an index, a 'unique' list, linking objects or the 'unknown' case of an enum \
            refers to a property or case that does not exist, or a key path continues after a property that has no \
            members.
            """,
        reason: """
            Key paths become typed Swift code and are checked segment by segment, so a renamed property is found when \
            the schema is compiled and not on the device of a user.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    index: [nme]
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

    static let badLinkingObjects = RuleExplanation(
        .badLinkingObjects,
        problem: """
            'LinkingObjects<Type.property>' refers to a property that is neither a link nor a collection of links to \
            the type that declares the linking objects.
            """,
        reason: """
            Linking objects are the objects that link to this object. For a property that links to another type, or is \
            not a link, they would always be empty.
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
                      owner: Person?
                  ## A person who pays for the food.
                  Person:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      dogs: LinkingObjects<Dog.name>

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name: String
                      owner: Person?
                  ## A person who pays for the food.
                  Person:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      dogs: LinkingObjects<Dog.owner>

                """))
}
