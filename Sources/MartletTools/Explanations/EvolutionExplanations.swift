import MartletSchema

/// The explanations of MRT0601 to MRT0603, which report changes of schemas that affect stored data or dependent code.
extension RuleExplanation {
    static let breakingChange = RuleExplanation(
        .breakingChange,
        problem: """
            A schema change breaks data or code of an earlier version. The message states the level: 'data' if stored \
            values are lost or cannot be read, 'source' if code that uses the generated classes no longer compiles, \
            'query' if queries become slower or return other results, or new objects start with other values.
            """,
        reason: """
            An app on the device of a user opens files that an older schema wrote, and other code depends on the \
            generated classes. This rule finds such problems before a release.
            """,
        example: .none(
            """
            A single schema cannot show this finding: the rule compares two versions. 'martlet breaking Schemas \
            --against main' compares the schema with the commit at which the branch left 'main'. If 'years' was \
            declared before and 'age' is declared now, the command suggests 'renamedFrom: years', which keeps the stored \
            values.
            """),
        silencing: """
            not possible in a schema. The levels are, from the most to the least severe, 'data', 'source' and 'query'. \
            Changes less severe than the level of '--level' are notes and do not fail the command. The default is \
            'source'. 'data' permits changes that break code; with 'query', every breaking change is an error.
            """)

    static let staleRename = RuleExplanation(
        .staleRename,
        problem: """
            A 'renamedFrom' contains the name of its own declaration, the name of a declaration that still exists, or \
            a name that another 'renamedFrom' also contains.
            """,
        reason: """
            A rename moves stored data from the old name to the new one. This is possible only if the old name is not \
            declared any more and only one declaration is renamed from it.
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
                      callName: {type: String, renamedFrom: name}

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      callName: {type: String, renamedFrom: name}

                """))

    static let deprecation = RuleExplanation(
        .deprecation,
        problem: """
            A deprecation does not say what to use instead, or a key path, projection or index uses a deprecated item.
            """,
        reason: """
            The text becomes the warning that users of the property see in Xcode. The deprecated property cannot be \
            removed while the schema itself uses it.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      age: {type: Int, deprecated: true}
                      birthday: Date?

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      age: {type: Int, deprecated: Use birthday.}
                      birthday: Date?

                """))
}
