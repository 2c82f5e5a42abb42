/// MRT0401 to MRT0403: names as Swift writes them.
extension RuleExplanation {
    static let namingCase = RuleExplanation(
        .namingCase,
        problem: """
            A type is not written 'LikeThis', or a property, case, key path or label not 'likeThis'.
            """,
        reason: """
            Names reach Swift unchanged. Where data is stored already, write the new name and 'renamedFrom' with the old \
            one, and the data stays.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      first_name: String

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      firstName: {type: String, renamedFrom: first_name}

                """))

    static let reservedName = RuleExplanation(
        .reservedName,
        problem: """
            A name is a member of the classes of the runtime, such as 'description' or 'realm', or no name of Swift at \
            all: letters, digits and '_' of ASCII, a letter first, at most 63 of them. A property may be called '_id'.
            """,
        reason: """
            The generated class would not compile, or would hide what its base class does.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      description: String

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      story: String

                """))

    static let plurality = RuleExplanation(
        .plurality,
        problem: "A collection is named in the singular, or a link or a type in the plural.",
        reason: """
            'dog.friends.first' says what it does, 'dog.friend.first' does not. Only the preset 'strict' shows it, since a \
            name can be right where a rule of thumb says it is not.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      friend: List<Dog>

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      friends: List<Dog>

                """))
}
