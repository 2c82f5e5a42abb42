import MartletSchema

/// Reports enums that no property uses, and cycles of cascading deletions.
struct UnusedEnumsAndCascadeCycles: LintRule {
    let code = DiagnosticCode.unusedOrCyclic
    let requirement = "Every enum is used, and cascading deletions form no cycle."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        unusedEnums(schema) + cascadeCycles(schema)
    }

    private func unusedEnums(_ schema: SchemaModel) -> [Diagnostic] {
        guard !schema.enums.isEmpty else { return [] }
        var used: Set<String> = []
        for object in schema.objects {
            for properties in [object.properties, object.ignored] {
                for property in properties {
                    if case .enumeration(let name, _) = property.type.value { used.insert(name) }
                }
            }
        }
        return schema.enums.filter { !used.contains($0.name) }.map { model in
            Diagnostic(code, "no property uses the enum '\(model.name)'; use it or remove it", at: model.nameSpan)
        }
    }

    /// The maximum number of links that a message lists for a cycle.
    private static let shownSteps = 8

    /// A cascading link: deleting an object of the type `trigger` deletes objects of the type `deleted`.
    private struct Step {
        let deleted: String
        let trigger: String
        let owner: String
        let property: PropertyModel
    }

    /// Finds cycles. The search starts at each type, and goes from the deleted type of a link to the trigger of the
    /// link.
    private func cascadeCycles(_ schema: SchemaModel) -> [Diagnostic] {
        var steps: [String: Step] = [:]
        for step in stepsFromCycles(schema) where steps[step.deleted] == nil { steps[step.deleted] = step }
        var findings: [Diagnostic] = []
        var visited: Set<String> = []
        for object in schema.objects where steps[object.name] != nil {
            var path: [Step] = []
            var name = object.name
            while visited.insert(name).inserted, let step = steps[name] {
                path.append(step)
                name = step.trigger
            }
            guard let start = path.firstIndex(where: { $0.deleted == name }) else { continue }
            findings.append(finding(path[start...]))
        }
        return findings
    }

    private func finding(_ cycle: ArraySlice<Step>) -> Diagnostic {
        let steps = cycle.prefix(Self.shownSteps).map { "\($0.owner).\($0.property.name)" }
        let rest = cycle.count - steps.count
        let route = (steps + (rest > 0 ? ["\(rest) more"] : [])).joined(separator: " and ")
        return Diagnostic(
            code, "deletions cascade in a cycle, through \(route); break it with 'nullify'",
            at: cycle.first?.property.nameSpan)
    }

    private func steps(_ property: PropertyModel, of owner: String) -> [Step] {
        let target = property.type.value.name
        var steps: [Step] = []
        if property.onDelete == .cascade {
            steps.append(Step(deleted: owner, trigger: target, owner: owner, property: property))
        }
        if property.deleteRule == .cascade {
            steps.append(Step(deleted: target, trigger: owner, owner: owner, property: property))
        }
        return steps
    }

    /// The cascading links that form cycles. The result also contains the cascading links through which the deletions
    /// of a cycle reach other types.
    private func stepsFromCycles(_ schema: SchemaModel) -> [Step] {
        let edges = schema.objects.flatMap { object in object.properties.flatMap { steps($0, of: object.name) } }
        var outgoing: [String: Int] = [:]
        var incoming: [String: [Int]] = [:]
        for (index, edge) in edges.enumerated() {
            outgoing[edge.deleted, default: 0] += 1
            incoming[edge.trigger, default: []].append(index)
        }
        var isRemoved = [Bool](repeating: false, count: edges.count)
        var pending = incoming.keys.filter { outgoing[$0] == nil }
        while let name = pending.popLast() {
            for index in incoming[name] ?? [] where !isRemoved[index] {
                isRemoved[index] = true
                outgoing[edges[index].deleted, default: 0] -= 1
                if outgoing[edges[index].deleted] == 0 { pending.append(edges[index].deleted) }
            }
        }
        return edges.indices.filter { !isRemoved[$0] }.map { edges[$0] }
    }
}
