/// A misuse of the API, and the message with which it stops the program.
struct Provocation: Sendable {
    /// The function of `Misuse` that is called.
    let name: String
    /// The whole message; `…` stands for text that differs between runs.
    let message: String
    let provoke: @Sendable () throws -> Void

    init(_ name: String, _ message: String, by provoke: @escaping @Sendable () throws -> Void) {
        self.name = name
        self.message = message
        self.provoke = provoke
    }

    /// Returns whether the output of a program contains the whole message, followed by the name.
    func isTold(in output: String) -> Bool {
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
enum Provocations {
    struct Section: Sendable {
        let title: String
        let text: String
        let members: [Provocation]
    }

    static let sections = [
        Section(
            title: "Where a Realm lives",
            text: "Objects, collections and Realms stay on the thread or queue that their Realm was opened on.",
            members: homes),
        Section(
            title: "Write transactions",
            text: "Everything stored is changed inside of one write transaction, and one at a time.",
            members: writes),
        Section(
            title: "Objects",
            text:
                "What is deleted is gone, an object is in one Realm, and a primary key belongs to one object for good.",
            members: objects),
        Section(
            title: "Values by name",
            text: """
                Names and values that the compiler does not see are held against the schema when they are used. A value that
                is not given is the default of the schema, so that none can be missing.
                """,
            members: values),
        Section(
            title: "Values of any type",
            text: "What is in an `AnyRealmValue` is known when it is used.",
            members: anyValues),
        Section(
            title: "Frozen things and references",
            text: "A picture of a moment never changes, and a reference leads back once.",
            members: frozenThings),
        Section(
            title: "Collections and queries",
            text:
                "What is asked must mean something. Texts from outside go through `Realm.Predicate(parsing:)`, which throws.",
            members: queries),
        Section(
            title: "Migrations",
            text: "A `migrationBlock` sees each object twice: as it was, and as it is going to be.",
            members: migrations),
        Section(
            title: "Observation",
            text: "Observers are registered where they can be called, on what is stored and can change.",
            members: observations),
        Section(
            title: "Key-value observation",
            text: "Key paths lead along single values and links.",
            members: keyValues),
        Section(
            title: "What the generator does for you",
            text: "Model classes and literals come from a schema; written by hand they are checked late.",
            members: generated),
    ]

    static let all = sections.flatMap(\.members)
}
