import MartletLint
import MartletSchema
import Testing

@Suite("Breaking: keys, indexes and defaults")
struct QueryChangeTests {
    @Test("a primary key that is added, removed or replaced breaks data S43 MRT0601")
    func primaryKey() throws {
        let advice = "undo this change, or add a type with another name"
        try check(
            dog("a: Int, b: Int", "primaryKey: «a»"), dog("a: Int, b: Int", "primaryKey: «b»"),
            ["data: the primary key of 'Dog' was 'a' and is 'b'; \(advice)"])
        try check(
            dog("a: Int", "primaryKey: «a»"), dog("a: Int", name: "«Dog»"),
            ["data: the primary key of 'Dog' was 'a' and is absent; \(advice)"])
        try check(
            dog("a: Int"), dog("a: Int", "primaryKey: «a»"),
            ["data: the primary key of 'Dog' was absent and is 'a'; \(advice)"])
        try check(
            dog("«a»: Int", "primaryKey: a"), dog("«b»: {type: Int, renamedFrom: a}", "primaryKey: b"),
            ["source: property 'Dog.b' was 'a'; rename it in code that uses it"])
    }

    @Test("a new uniqueness constraint breaks data, because a file that violates it does not open S43 MRT0601")
    func unique() throws {
        try check(
            dog("a: Int, b: Int"), dog("a: Int, b: Int", "unique: [[«a, b»]]"),
            [
                "data: 'Dog.a' and 'Dog.b' must be unique now, and a file whose objects share values does not open; "
                    + "take the list out of 'unique', or make the values differ first"
            ])
        try check(
            dog("a: Int, b: Int", "unique: [[«a, b»]]"), dog("a: Int, b: Int", name: "«Dog»"),
            ["query: 'Dog.a' and 'Dog.b' need not be unique any more; keep the list in 'unique'"])
        try check(
            dog("«a»: Int, b: Int", "unique: [[«a, b»]]"),
            dog("«c»: {type: Int, renamedFrom: a}, b: Int", name: "«Dog»"),
            [
                "query: 'Dog.c' and 'Dog.b' need not be unique any more; keep the list in 'unique'",
                "source: property 'Dog.c' was 'a'; rename it in code that uses it",
            ])
        try check(dog("a: Int, b: Int", "unique: [[a, b]]"), dog("a: Int, b: Int", "unique: [[b, a]]"))
        // Values of `a` are unique, so combinations of values of `a` and `b` are unique too.
        try check(dog("a: Int, b: Int", "unique: [[a]]"), dog("a: Int, b: Int", "unique: [[a], [a, b]]"))
        try check(
            dog("a: Int, b: Int", "primaryKey: a"), dog("a: Int, b: Int", "primaryKey: a, unique: [[a, b]]"))
    }

    @Test("a removed index slows queries down; a new one breaks nothing S43 MRT0601")
    func index() throws {
        try check(
            dog("a: Int, b: Int", "index: [«a»]"), dog("«a»: Int, b: Int", "index: [b]"),
            ["query: 'Dog.a' has no index any more, and queries for it become slower; keep it in 'index'"])
    }

    @Test("a removed full-text index breaks queries S43 MRT0601")
    func fullText() throws {
        try check(
            dog("a: {type: String, «fullText»: true}"), dog("«a»: String"),
            ["query: 'Dog.a' has no full-text search any more; keep 'fullText: true'"])
        try check(dog("a: String"), dog("a: {type: String, fullText: true}"))
    }

    @Test("another 'onDelete' changes which objects are deleted S47 S43 MRT0601")
    func onDelete() throws {
        try check(
            dog("«a»: Dog?"), dog("«a»: {type: Dog?, onDelete: cascade}"),
            [
                "query: 'onDelete' of 'Dog.a' was 'nullify' and is 'cascade', so deletions have other effects; "
                    + "keep 'onDelete: nullify'"
            ])
    }

    @Test("another 'deleteRule' changes which objects are deleted, also for collections S47 S43 MRT0601")
    func deleteRule() throws {
        try check(
            dog("«a»: List<Dog>"), dog("«a»: {type: List<Dog>, deleteRule: deny}"),
            [
                "query: 'deleteRule' of 'Dog.a' was 'nullify' and is 'deny', so deletions have other effects; "
                    + "keep 'deleteRule: nullify'"
            ])
        try check(dog("a: {type: Dog?, deleteRule: deny}"), dog("a: {type: Dog?, deleteRule: deny}"))
    }

    @Test("an unchanged 'onDelete' of a collection is reported, because Martlet 0.1 ignored it S47 S43 MRT0601")
    func onDeleteOfCollections() throws {
        for kind in ["List<Dog>", "Set<Dog>", "Map<Dog?>"] {
            try check(
                dog("«a»: {type: \(kind), onDelete: cascade}"), dog("«a»: {type: \(kind), onDelete: cascade}"),
                [
                    "query: 'onDelete: cascade' of 'Dog.a' takes effect now, but Martlet 0.1 ignored it on lists, sets "
                        + "and maps, so deletions have other effects; remove it, or keep it if this is intended"
                ])
        }
        try check(dog("a: {type: Dog?, onDelete: deny}"), dog("a: {type: Dog?, onDelete: deny}"))
    }

    @Test("a changed default is reported only if new objects get another value S43 MRT0601")
    func defaults() throws {
        let message = "query: 'Dog.a' of a new object starts with another value; keep the default"
        try check(dog("a: Int = «1»"), dog("a: Int = «2»"), [message])
        try check(dog("a: Int = «1»"), dog("a: «Int»"), [message])
        try check(dog("a: «Date»"), dog("a: Date = «now»"), [message])
        try check(dog("a: «Int?»"), dog("a: Int? = «0»"), [message])
        try check(dog("a: Int"), dog("a: Int = 0"))
        try check(dog("a: String"), dog("a: String = \"\""))
        try check(dog("a: {type: Int, default: 3}"), dog("a: Int = 3"))
        let ignored = { (value: String) in dog("b: Int", "ignored: {a: Bool = \(value)}") }
        try check(ignored("«true»"), ignored("«false»"), [message])
    }

    @Test("the default of an enum is compared by its raw value S43 MRT0601")
    func enumDefaults() throws {
        let message = "query: 'Dog.a' of a new object starts with another value; keep the default"
        let enums = { (cases: String) in "enums:\n  Size: {raw: Int, cases: {\(cases)}}\n" }
        try check(
            enums("small: 1, large: 2") + dog("a: «Size»"), enums("large: 2, small: 1") + dog("a: «Size»"), [message])
        try check(enums("small: 1, large: 2") + dog("a: Size"), enums("small: 1, large: 2") + dog("a: Size = small"))
        try check(
            enums("«small»: 1") + dog("a: Size = small"), enums("«tiny»: 1") + dog("a: Size = tiny"),
            ["source: case 'Size.small' is 'tiny' now; rename it in code that uses it"])
    }

    @Test("changes at least as severe as the level are errors, and less severe changes are notes S43 MRT0601")
    func levels() throws {
        let change = try SchemaChange(
            dog("a: Int?, b: Int, c: Int", "index: [c]"), dog("a: Int, b: Int?, c: Int"))
        let severities = { (level: BreakingLevel) in change.findings(failingFrom: level).map(\.severity) }
        #expect(severities(.data) == [.error, .note, .note])
        #expect(severities(.source) == [.error, .error, .note])
        #expect(severities(.query) == [.error, .error, .error])
    }
}
