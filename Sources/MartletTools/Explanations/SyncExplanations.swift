import MartletSchema

/// The explanations of MRT0701 to MRT0705: synchronized types.
extension RuleExplanation {
    static let badRule = RuleExplanation(
        .badRule,
        problem: """
            A rule cannot be parsed, compares values of different types, or compares what the service cannot compare: \
            collections, properties with 'sync: none', and properties of linked objects other than the primary key.
            """,
        reason: """
            A rule decides which objects a user receives and may change. PostgreSQL and the service evaluate the rule, \
            so a rule contains only what both evaluate in the same way. A rule that is always false hides all objects.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A note that only its owner reads.
                  Note:
                    primaryKey: id
                    sync: both
                    read: ownerId = = $user.sub AND size < "large"
                    properties:
                      id: ObjectId = new
                      ownerId: String
                      size: Int

                """,
            fixed: """
                objects:
                  ## A note that only its owner reads.
                  Note:
                    primaryKey: id
                    sync: both
                    read: ownerId == $user.sub AND size < 100
                    properties:
                      id: ObjectId = new
                      ownerId: String
                      size: Int

                """))

    static let badSync = RuleExplanation(
        .badSync,
        problem: """
            The schema keys for synchronization contradict the type or property: a synchronized type has no primary \
            key, a type that is not synchronized has rules, a property with 'sync: none' is required and has no \
            default, or a counter is not an 'Int'.
            """,
        reason: """
            Objects are identified by their primary keys on all machines. An object that arrives from another machine \
            has no value for a property that is not sent, so this property must be optional or have a default. The \
            differences of concurrent changes are added to a counter, so a counter must be a whole number, and its \
            values cannot be unique.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A song that people vote for.
                  Song:
                    sync: both
                    properties:
                      title: String
                      votes: {type: Int?, merge: add}

                """,
            fixed: """
                objects:
                  ## A song that people vote for.
                  Song:
                    primaryKey: id
                    sync: both
                    properties:
                      id: UUID = new
                      title: String
                      votes: {type: Int, merge: add}

                """))

    static let unsynchronizedLink = RuleExplanation(
        .unsynchronizedLink,
        problem: "A synchronized type links to a type that is not synchronized.",
        reason: """
            The target exists only in one file. On other machines the link would be nil, and the next change of the \
            object on another machine would remove the link on this machine too.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A song that people vote for.
                  Song:
                    primaryKey: id
                    sync: both
                    properties:
                      id: UUID = new
                      cover: Cover?
                  ## A picture.
                  Cover:
                    primaryKey: id
                    properties:
                      id: UUID = new

                """,
            fixed: """
                objects:
                  ## A song that people vote for.
                  Song:
                    primaryKey: id
                    sync: both
                    properties:
                      id: UUID = new
                      cover: Cover?
                  ## A picture.
                  Cover:
                    primaryKey: id
                    sync: both
                    properties:
                      id: UUID = new

                """))

    static let databaseName = RuleExplanation(
        .databaseName,
        problem: """
            Two names of synchronized types or properties are equal in SQL, or a name is longer than 63 bytes in SQL.
            """,
        reason: """
            Tables and columns have the names of types and properties in snake_case: 'homeTown' becomes 'home_town'. A \
            list, set or map is a table with the names of its type and property. 'martlet postgres' refuses a schema \
            with equal or too long names.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    sync: both
                    properties:
                      id: UUID = new
                      diet: Map<String>
                  ## What a dog eats.
                  DogDiet:
                    primaryKey: id
                    sync: both
                    properties:
                      id: UUID = new
                      food: String

                """,
            fixed: """
                objects:
                  ## A dog that lives in the kennel.
                  Dog:
                    primaryKey: id
                    sync: both
                    properties:
                      id: UUID = new
                      meals: Map<String>
                  ## What a dog eats.
                  DogDiet:
                    primaryKey: id
                    sync: both
                    properties:
                      id: UUID = new
                      food: String

                """))

    static let lostPrecision = RuleExplanation(
        .lostPrecision,
        problem: "A synchronized property is a 'Date' or a 'Decimal128'.",
        reason: """
            PostgreSQL stores dates in microseconds. The service preserves the value of a decimal number, but not the \
            sign of zero or the number of trailing zeros, which 'Decimal128' keeps. So a value that comes back from \
            the service can differ from the value that was written.
            """,
        example: .schema(
            wrong: """
                objects:
                  ## A sample of a sensor.
                  Sample:
                    primaryKey: id
                    sync: both
                    properties:
                      id: UUID = new
                      takenAt: Date

                """,
            fixed: """
                objects:
                  ## A sample of a sensor.
                  Sample:
                    primaryKey: id
                    sync: both
                    properties:
                      id: UUID = new
                      ## Nanoseconds since 1970.
                      takenAt: Int

                """))
}
