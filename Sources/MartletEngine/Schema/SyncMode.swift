/// How the objects of a type are synchronized. The raw values are the words after `sync` in the schema facts.
package enum SyncMode: String, Sendable {
    /// Objects are not synchronized. The schema facts of a type with this mode contain no line `sync`.
    case none
    /// Clients send their changes and receive the changes of other clients.
    case both
    /// Clients send the objects that they create, and receive no objects.
    case upload
}

/// A rule of a type. It defines which objects a user may receive or write.
package struct SyncRule: Sendable, Equatable {
    /// What the rule restricts. The raw values are the words in the schema facts.
    package enum Scope: String, CaseIterable, Sendable {
        case read
        case write
        case insert
        case delete
    }

    package let scope: Scope
    /// The condition as a query text with `$user.<claim>`. Equal conditions have equal texts.
    package let text: String
}

extension ObjectTypeSchema {
    /// Adds a rule from the schema facts. The scope of a property's rule is `write.` and the name of the property.
    ///
    /// - Returns: false if the scope is unknown or already has a rule.
    mutating func add(rule scope: String, _ text: String) -> Bool {
        if let scope = SyncRule.Scope(rawValue: scope) {
            guard rule(scope) == nil else { return false }
            rules.append(SyncRule(scope: scope, text: text))
            return true
        }
        let parts = scope.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, parts[0] == SyncRule.Scope.write.rawValue,
            let index = self[String(parts[1])]?.index, properties[index].writeRule == nil
        else { return false }
        properties[index].writeRule = text
        return true
    }
}
