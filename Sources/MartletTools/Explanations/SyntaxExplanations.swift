import MartletSchema

/// The explanations of MRT0101 to MRT0104: YAML syntax.
extension RuleExplanation {
    static let yamlSubset = RuleExplanation(
        .yamlSubset,
        problem: """
            The file uses a feature that the schema language does not support: anchors, aliases, merge keys, tags, a \
            second document, control characters or bytes that are not UTF-8.
            """,
        reason: """
            A schema can be read from top to bottom. An alias takes its meaning from another place, and bidirectional \
            control characters make text look different from its contents.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name: &text String
                      nickname: *text

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
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
            A key, a property, an enum case or the stored value of a case occurs twice in one place, or the names of \
            two properties differ only in upper and lower case.
            """,
        reason: """
            Most YAML readers silently use the last one. Properties whose names differ only in case refer to the same \
            column of the database, where case is not significant.
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
                      age: Int
                      name: String?

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name: String
                      age: Int
                      nickname: String?

                """))

    static let yamlMistake = RuleExplanation(
        .yamlMistake,
        problem: """
            The text contains a common YAML mistake: a tab in the indentation, no space after a ':', square brackets \
            as a type, a comma or ': ' inside a value without quotes, an unclosed quote or bracket, or a line whose \
            indentation matches no other line of its block.
            """,
        reason: """
            A YAML parser interprets such text differently from what its author expects, or reports an error far below \
            the mistake. Martlet reports the position of the mistake.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      name:String

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

    static let ambiguousScalar = RuleExplanation(
        .ambiguousScalar,
        problem: """
            A boolean or a number is written in the notation of YAML 1.1: 'yes', 'Off', '0777', '0x1F' or '1:30'.
            """,
        reason: """
            YAML 1.1 and 1.2 interpret most of these values differently: '0777' is 511 in one and 777 in the other. \
            Booleans are 'true' and 'false', numbers are decimal.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      isTrained: Bool = yes

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    properties:
                      id: ObjectId = new
                      isTrained: Bool = true

                """))
}
