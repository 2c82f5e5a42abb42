/// A misuse of the API, and the message with which it stops the program.
struct MisuseCase: Sendable {
    /// The name of the function of `Misuse` that stops the program.
    let name: String
    /// The whole message. `…` matches any text, such as text that differs between runs.
    let message: String
    let trigger: @Sendable () throws -> Void

    init(_ name: String, _ message: String, by trigger: @escaping @Sendable () throws -> Void) {
        self.name = name
        self.message = message
        self.trigger = trigger
    }

    /// Returns whether the output of a program contains the whole message, followed by the name.
    func appears(in output: String) -> Bool {
        var rest = output[...]
        let gap = message.contains("\n") ? "\n" : " "
        for part in "Martlet: \(message)\(gap)[\(name)]\n".split(separator: "…", omittingEmptySubsequences: false) {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }
}

/// Every trap of the library, with code that triggers it. `Documentation/Misuse.md` is generated from this list.
enum MisuseCases {
    struct Section: Sendable {
        let title: String
        let text: String
        let members: [MisuseCase]
    }

    static let sections = [
        Section(
            title: "Isolation",
            text: "Realms, objects and collections are used only on the thread, queue or actor of their Realm.",
            members: isolation),
        Section(
            title: "Write transactions",
            text: "Stored data is changed only inside a write transaction. A Realm has at most one at a time.",
            members: writes),
        Section(
            title: "Objects",
            text:
                "Deleted objects cannot be used, an object belongs to one Realm, and its primary key never changes.",
            members: objects),
        Section(
            title: "Values by name",
            text: """
                Names and values that the compiler cannot check are compared with the schema when they are used. A property for
                which no value is given gets the default value of the schema.
                """,
            members: values),
        Section(
            title: "Values of the type AnyRealmValue",
            text: "The kind of an `AnyRealmValue` is checked when the value is used.",
            members: anyValues),
        Section(
            title: "Frozen objects and references",
            text: "Frozen objects never change, and a thread-safe reference is resolved once.",
            members: frozenObjects),
        Section(
            title: "Collections and queries",
            text:
                "A query must be valid for the schema. Parse texts from users with `Realm.Predicate(parsing:)`, which throws.",
            members: queries),
        Section(
            title: "Migrations",
            text: "A `migrationBlock` gets each object twice: as the old, read-only object and as the new one.",
            members: migrations),
        Section(
            title: "Observation",
            text:
                "Observers can be registered only on managed data that can change, and only on a thread, queue or "
                + "actor on which they can be called.",
            members: observations),
        Section(
            title: "Key-value observation",
            text: "Key paths lead through to-one links only.",
            members: keyValues),
        Section(
            title: "Generated code",
            text: "Generated model classes and values are checked at build time, handwritten ones when they are used.",
            members: generated),
    ]

    static let all = sections.flatMap(\.members)
}
