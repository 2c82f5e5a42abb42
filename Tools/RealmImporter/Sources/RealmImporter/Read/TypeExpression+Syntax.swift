import SwiftSyntax

extension TypeExpression {
    init(_ type: TypeSyntax) {
        if let type = type.as(OptionalTypeSyntax.self) {
            self = .optional(TypeExpression(type.wrappedType))
        } else if let type = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            self = .optional(TypeExpression(type.wrappedType))
        } else if let type = type.as(ArrayTypeSyntax.self) {
            self = .array(TypeExpression(type.element))
        } else if let type = type.as(AttributedTypeSyntax.self) {
            self = TypeExpression(type.baseType)
        } else if let type = type.as(TupleTypeSyntax.self), type.elements.count == 1, let inner = type.elements.first {
            self = TypeExpression(inner.type)
        } else if let type = type.as(CompositionTypeSyntax.self) {
            self = .composition(type.elements.map { TypeExpression($0.type) })
        } else if let type = type.as(IdentifierTypeSyntax.self) {
            self.init(named: type.name.plainText, type.genericArgumentClause)
        } else if let type = type.as(MemberTypeSyntax.self), case .name(let base) = TypeExpression(type.baseType) {
            self.init(named: "\(base).\(type.name.plainText)", type.genericArgumentClause)
        } else {
            self = .other(type.lineText)
        }
    }

    init(named name: String, _ clause: GenericArgumentClauseSyntax?) {
        guard let clause else {
            self = .name(name)
            return
        }
        let arguments = clause.arguments.map { argument in
            if case .type(let type) = argument.argument { return TypeExpression(type) }
            return TypeExpression.other(argument.lineText)
        }
        self.init(name: name, arguments)
    }

    /// Converts `Optional<Dog>` to `Dog?`.
    init(name: String, _ arguments: [TypeExpression]) {
        if name.withoutModule == "Optional", arguments.count == 1 {
            self = .optional(arguments[0])
        } else {
            self = arguments.isEmpty ? .name(name) : .generic(name, arguments)
        }
    }
}
