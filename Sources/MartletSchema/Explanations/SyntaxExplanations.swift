/// MRT0101 to MRT0104: YAML syntax.
extension RuleExplanation {
    static let yamlSubset = RuleExplanation(
        .yamlSubset,
        problem: """
            The file uses a part of YAML that schemas do without: anchors, aliases, merge keys, tags, a second document, \
            control characters or bytes that are not UTF-8.
            """,
        reason: """
            A schema reads the same from top to bottom for everybody. Aliases let one line mean things that stand \
            elsewhere, and characters that turn the direction of text make it look different from what it says.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name: &text String
                      nickname: *text

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name: String
                      nickname: String

                """))

    static let duplicateKey = RuleExplanation(
        .duplicateKey,
        problem: """
            A key, a property or a case stands twice in one place, or two of them differ by upper and lower case alone.
            """,
        reason: """
            Most YAML readers let the later one win without a word. Names that differ by case alone meet in one column \
            of the database, where case does not count.
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
                      age: Int
                      name: String?

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name: String
                      age: Int
                      nickname: String?

                """))

    static let yamlTrap = RuleExplanation(
        .yamlTrap,
        problem: """
            The text is a well-known trap of YAML: a tab for indentation, no blank behind a ':', square brackets as a \
            type, a comma or ': ' inside a value without quotes, a quote or bracket that is never closed, a line that is \
            indented like none of its neighbours.
            """,
        reason: """
            YAML reads such a line as something other than what it looks like, or gives up far below the mistake. The \
            finding stands at the mistake itself.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name:String

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

    static let ambiguousScalar = RuleExplanation(
        .ambiguousScalar,
        problem: """
            A boolean or a number is written as YAML 1.1 had it: 'yes', 'Off', '0777', '0x1F' or '1:30'.
            """,
        reason: """
            YAML 1.1 and YAML 1.2 disagree on what these mean: '0777' is 511 to one and 777 to the other. Booleans are \
            'true' and 'false', numbers are decimal.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      isTrained: Bool = yes

                """,
            mended: """
                objects:
                  ## Somebody who lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      isTrained: Bool = true

                """))
}
