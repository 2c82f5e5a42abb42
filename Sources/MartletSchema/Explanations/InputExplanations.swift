/// MRT0001 to MRT0006: problems with the input files as a whole.
extension RuleExplanation {
    static let noSchema = RuleExplanation(
        .noSchema,
        problem: """
            The folder holds no file whose name ends in '.yaml', or its files declare nothing.
            """,
        reason: """
            A wrong folder on the command line would otherwise look like a schema without types, and '--check' would pass.
            """,
        example: .schema(
            wrong: """
                # Nothing is declared yet.

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new

                """))

    static let limitExceeded = RuleExplanation(
        .limitExceeded,
        problem: """
            A file is larger than 1 MiB, mappings and lists stand in each other more than 16 deep, a value is longer than \
            64 KiB, a key longer than 128 bytes, or a file has more than 200 findings, of which the rest is only counted.
            """,
        reason: """
            Limits keep the compiler fast on any input, and no schema written by a person comes near them.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    index: [[[[[[[[[[[[[[[[[name]]]]]]]]]]]]]]]]]
                    properties:
                      id: ObjectId = new
                      name: String = ""

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    index: [name]
                    properties:
                      id: ObjectId = new
                      name: String = ""

                """))

    static let uselessIgnore = RuleExplanation(
        .uselessIgnore,
        problem: """
            A 'martlet:ignore' comment names a code that the next line does not give, or a code that does not exist, or none.
            """,
        reason: """
            Such a comment hides nothing today, and would hide a finding that nobody has looked at tomorrow.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  # martlet:ignore MRT0501
                  Dog:
                    primaryKey: id
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

                """),
        silencing: """
            remove the comment. Where a comment names a code that exists, 'MRT0003: off' below 'lint:' and 'rules:' in \
            'martlet.yaml' silences it too.
            """)

    static let badConfiguration = RuleExplanation(
        .badConfiguration,
        problem: """
            'martlet.yaml' holds a key or a value that it cannot hold, or two schema files would become one Swift file.
            """,
        reason: """
            A setting that is misspelt would silently do nothing: internal types would become public, a rule would stay on.
            """,
        example: .configuration(
            wrong: """
                access: internl

                """,
            mended: """
                access: internal

                """))

    static let driftedOutput = RuleExplanation(
        .driftedOutput,
        problem: """
            A generated file is missing, differs from what the schema generates, or belongs to no schema any more.
            """,
        reason: """
            Somebody edited the file, or changed the schema without generating. What is committed would not be what the \
            schema says.
            """,
        example: .none(
            """
            No schema shows it: 'martlet generate SCHEMAS --output FOLDER --check' gives it after a generated file was \
            edited. Run 'martlet generate SCHEMAS --output FOLDER' and commit the result.
            """),
        silencing: "not possible.")

    static let mergeConflict = RuleExplanation(
        .mergeConflict,
        problem: "The markers of a merge conflict are still in the file.",
        reason: "Both sides stand in the text at once, and neither of them is the schema that was meant.",
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                <<<<<<< ours
                      name: String = ""
                =======
                      title: String = ""
                >>>>>>> theirs

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name: String = ""

                """))
}
