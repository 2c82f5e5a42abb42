/// MRT0601 to MRT0603: changes of schemas with stored data or dependent code.
extension RuleExplanation {
    static let breakingChange = RuleExplanation(
        .breakingChange,
        problem: """
            A change of the schema breaks what an earlier version of it allowed. The message says at which level: 'data' \
            when stored values are lost or cannot be read, 'source' when code that uses the generated classes stops \
            compiling, 'query' when queries become slower or answer differently, or new objects start with other values.
            """,
        reason: """
            An app in the hands of users opens files that an older schema wrote, and others build on the classes. What \
            they stumble over is found before it ships.
            """,
        example: .none(
            """
            No schema shows it alone: it takes two versions of one. 'martlet breaking Schemas --against main' compares \
            the schema with the commit where the branch left 'main'. Where 'years' was declared before, and 'age' is now, \
            it suggests 'renamedFrom: years', which keeps what is stored.
            """),
        silencing: """
            not possible in a schema. Changes below the level of '--level' are notes and fail nothing: 'source' is the \
            default, 'data' lets code change, 'query' lets nothing pass.
            """)

    static let staleRename = RuleExplanation(
        .staleRename,
        problem: """
            A 'renamedFrom' names the thing itself, a name that is still there, or one that something else is renamed from.
            """,
        reason: """
            A rename carries stored data from the old name to the new one, which works only when the old name is free and \
            claimed once.
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
                      callName: {type: String, renamedFrom: name}

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      callName: {type: String, renamedFrom: name}

                """))

    static let deprecation = RuleExplanation(
        .deprecation,
        problem: """
            A deprecation does not say what to use instead, or a key path, projection or index uses what is deprecated.
            """,
        reason: """
            The text becomes the warning that users of the property read in Xcode. A schema that goes on using the \
            property itself keeps it alive.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      age: {type: Int, deprecated: true}
                      birthday: Date?

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      age: {type: Int, deprecated: Use birthday.}
                      birthday: Date?

                """))
}
