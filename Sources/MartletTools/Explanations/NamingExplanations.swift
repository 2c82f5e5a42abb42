import MartletSchema

/// The explanations of MRT0401 to MRT0403: names in the wrong case, reserved or invalid names, and singular or plural
/// names.
extension RuleExplanation {
    static let namingCase = RuleExplanation(
        .namingCase,
        problem: """
            The name of a type is not written 'LikeThis', or the name of a property, case, key path or label is not \
            written 'likeThis'.
            """,
        reason: """
            Names are used in Swift unchanged. If data is already stored, write the new name and 'renamedFrom' with \
            the old name to keep the data.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      first_name: String

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      firstName: {type: String, renamedFrom: first_name}

                """))

    static let reservedName = RuleExplanation(
        .reservedName,
        problem: """
            A name is a member of the classes of the runtime, such as 'description' or 'realm', or is not valid: a \
            name is an ASCII letter, then ASCII letters, digits and '_', at most 63 characters. A property can also be \
            named '_id'.
            """,
        reason: "The generated class would not compile, or would hide a member of its base class.",
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      description: String

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      story: String

                """))

    static let plurality = RuleExplanation(
        .plurality,
        problem: "A collection has a singular name, or a link or a type has a plural name.",
        reason: """
            'dog.friends.first' is clear, 'dog.friend.first' is not. The rule is a heuristic and can be wrong, so \
            the finding is a note, which is reported only with 'preset: strict'.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      friend: List<Dog>

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      friends: List<Dog>

                """))
}
