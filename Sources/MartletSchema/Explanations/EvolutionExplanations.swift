/// MRT0601 to MRT0603: schemas that change while data is stored and code is written.
extension RuleExplanation {
    static let breakingChange = RuleExplanation(
        .breakingChange,
        problem: """
            A change of the schema loses stored values, makes them unreadable, or stops the code of users from compiling.
            """,
        reason: """
            An app in the hands of users opens files that an older schema wrote. What it cannot read is found before it \
            ships.
            """,
        example: .none(
            """
            No schema shows it alone: it takes two versions of one. The code is reserved: comparing two versions of a \
            schema comes later.
            """),
        silencing: "not possible.")

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
