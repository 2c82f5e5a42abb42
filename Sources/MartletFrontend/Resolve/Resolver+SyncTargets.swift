import MartletSchema

/// Checks for each link whether synchronization permits its target.
extension Resolver {
    mutating func checkTarget(_ property: PropertySyntax, of syntax: ObjectSyntax, _ scope: ObjectScope) {
        guard let type = scope.members[property.name.value]?.type, !type.isLinkingObjects,
            let span = property.type?.name.span
        else { return }
        switch type.value {
        case .scalar, .enumeration: return
        case .link(let target): checkLink(property, to: target, of: syntax, at: span)
        case .embedded(let target):
            guard syntax.mode != .none, property.localSpan == nil, let lost = lostLink(inside: target) else { return }
            report(
                .unsynchronizedLink,
                "'\(lost.owner).\(lost.property.name.value)' links to '\(lost.target)', which is not synchronized, so the "
                    + "link would be lost; synchronize '\(lost.target)', or write 'sync: none' here", at: span,
                notes: [DiagnosticNote("the link is here", at: lost.property.name.span)])
        }
    }

    private mutating func checkLink(
        _ property: PropertySyntax, to target: String, of syntax: ObjectSyntax, at span: SourceSpan
    ) {
        guard let targetSyntax = scopes[target]?.syntax else { return }
        let note = DiagnosticNote("'\(target)' is declared here", at: targetSyntax.name.span)
        let isSent = syntax.mode != .none && property.localSpan == nil
        switch targetSyntax.mode {
        case .upload:
            report(
                .badSync,
                "clients do not receive objects of '\(target)' ('sync: upload'), so nothing can link to them; remove "
                    + "'\(property.name.value)', or write 'sync: both' at '\(target)'", at: span, notes: [note])
        case .none where isSent:
            report(
                .unsynchronizedLink,
                "'\(target)' is not synchronized, so the link would be lost; write 'sync: both' at '\(target)', or "
                    + "'sync: none' at '\(property.name.value)'", at: span, notes: [note])
        case .both where !isSent && property.onDelete?.value == .deny:
            report(
                .badSync,
                "objects of '\(target)' are deleted by other machines, which do not know '\(property.name.value)'; write "
                    + "another 'onDelete'", at: property.onDelete?.span ?? span, notes: [note])
        case .none, .both: return
        }
    }

    private struct LostLink {
        let owner: String
        let property: PropertySyntax
        let target: String
    }

    /// The first link to a type that is not synchronized, in an embedded object or in the embedded objects inside it.
    private func lostLink(inside embedded: String) -> LostLink? {
        var seen: Set<String> = [embedded]
        var pending = [embedded]
        while let name = pending.popLast() {
            guard let scope = scopes[name] else { continue }
            for property in scope.syntax.properties {
                guard let type = scope.members[property.name.value]?.type, !type.isLinkingObjects else { continue }
                switch type.value {
                case .scalar, .enumeration: continue
                case .embedded(let next): if seen.insert(next).inserted { pending.append(next) }
                case .link(let target):
                    if scopes[target].map({ $0.syntax.mode == .none }) == true {
                        return LostLink(owner: name, property: property, target: target)
                    }
                }
            }
        }
        return nil
    }
}
