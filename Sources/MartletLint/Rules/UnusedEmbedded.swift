import MartletSchema

/// Reports embedded types that no top-level type contains, directly or through other embedded types. Objects of these
/// types can never exist, because an embedded object needs an owner.
struct UnusedEmbedded: LintRule {
    let code = DiagnosticCode.embedding
    let requirement = "Each embedded type is contained in an object, directly or through other embedded types."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        var containedTypes: [String: [String]] = [:]
        for object in schema.objects {
            for property in object.properties {
                if case .embedded(let name) = property.type.value, !property.type.isLinkingObjects, name != object.name
                {
                    containedTypes[object.name, default: []].append(name)
                }
            }
        }
        let used = reachable(containedTypes, from: schema.objects.filter { !$0.isEmbedded }.map(\.name))
        let contained = Set(containedTypes.values.joined())
        return schema.objects.filter { $0.isEmbedded && !used.contains($0.name) }.map { object in
            let reason =
                contained.contains(object.name)
                ? "the embedded object '\(object.name)' is contained only in embedded objects that are unused too"
                : "no property contains the embedded object '\(object.name)'"
            return Diagnostic(
                code, "\(reason); use it or remove it", at: object.nameSpan, label: "never used", severity: .warning)
        }
    }

    /// The embedded types that the types in `objects` contain, directly or through other embedded types.
    private func reachable(_ containedTypes: [String: [String]], from objects: [String]) -> Set<String> {
        var found: Set<String> = []
        var pending = objects
        while let name = pending.popLast() {
            for next in containedTypes[name] ?? [] where found.insert(next).inserted { pending.append(next) }
        }
        return found
    }
}
