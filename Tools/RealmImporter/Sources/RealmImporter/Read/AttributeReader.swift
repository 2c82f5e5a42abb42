import MartletSchema
import SwiftParser
import SwiftSyntax

/// Reads the attributes of a declaration.
struct AttributeReader {
    /// Attributes that are imported or have no effect on a schema. The importer reports all other attributes.
    private static let known: Set<String> = [
        "objc", "objcMembers", "available", "Persisted", "Projected", "discardableResult", "nonobjc", "frozen",
        "usableFromInline", "inlinable", "preconcurrency", "IBInspectable", "retroactive", "unchecked",
    ]

    let locator: SourceLocator

    /// Returns the attribute with the given name. In the Swift file, the name may have a module prefix.
    func named(_ name: String, in attributes: AttributeListSyntax) -> AttributeSyntax? {
        all(attributes).first { self.name(of: $0) == name }
    }

    func head(_ attributes: AttributeListSyntax, of node: some SyntaxProtocol) -> DeclarationHead {
        let foreign = all(attributes).filter { !Self.known.contains(name(of: $0)) }
        return DeclarationHead(
            documentation: DocumentationReader.read(node.leadingTrivia), deprecation: deprecation(attributes),
            foreignAttributes: foreign.map { Spanned(name(of: $0), locator.span(of: $0)) })
    }

    private func all(_ attributes: AttributeListSyntax) -> [AttributeSyntax] {
        attributes.compactMap { $0.as(AttributeSyntax.self) }
    }

    private func name(of attribute: AttributeSyntax) -> String {
        TypeExpression(attribute.attributeName).head ?? attribute.attributeName.lineText
    }

    // MARK: @Persisted and @Projected

    func persistence(_ attributes: AttributeListSyntax) -> (PropertyDeclaration.Persistence, ValueExpression?)? {
        guard let attribute = named("Persisted", in: attributes) else { return nil }
        var persistence = PropertyDeclaration.Persistence()
        var value: ValueExpression?
        guard case .argumentList(let arguments) = attribute.arguments else { return (persistence, nil) }
        for argument in arguments {
            let argumentValue = ValueReader(locator: locator).read(argument.expression)
            switch (argument.label?.plainText, argumentValue.form) {
            case ("primaryKey", .bool(let isTrue)): persistence.isPrimaryKey = isTrue
            case ("indexed", .bool(let isTrue)): persistence.isIndexed = isTrue
            case ("originProperty", .string(let name)): persistence.originProperty = name
            case ("wrappedValue", _): value = argumentValue
            default: persistence.unknownLabels.append(argument.lineText)
            }
        }
        return (persistence, value)
    }

    func projection(_ attributes: AttributeListSyntax) -> ProjectedPath? {
        guard let attribute = named("Projected", in: attributes) else { return nil }
        guard case .argumentList(let arguments) = attribute.arguments,
            let path = arguments.first?.expression.as(KeyPathExprSyntax.self)
        else { return ProjectedPath(segments: nil, text: attribute.lineText, span: locator.span(of: attribute)) }
        var segments: [String]? = []
        for component in path.components {
            switch component.component {
            case .property(let property): segments?.append(property.declName.baseName.plainText)
            case .optional: break
            default: segments = nil
            }
        }
        return ProjectedPath(
            segments: segments?.filter { $0 != "projectTo" }, text: path.lineText, span: locator.span(of: path))
    }

    // MARK: @objc and @available

    /// Attributes that expose a member to Objective-C.
    private static let exposing: Set<String> = ["objc", "IBInspectable", "IBOutlet", "NSManaged", "GKInspectable"]

    func isObjc(_ attributes: AttributeListSyntax) -> Bool {
        all(attributes).contains { Self.exposing.contains(name(of: $0)) }
    }

    /// Returns `Name` for the attribute `@objc(Name)`.
    func objcName(_ attributes: AttributeListSyntax) -> Spanned<String>? {
        guard let attribute = named("objc", in: attributes), let arguments = attribute.arguments else { return nil }
        return Spanned(arguments.trimmedDescription, locator.span(of: attribute))
    }

    private func deprecation(_ attributes: AttributeListSyntax) -> Deprecation? {
        for attribute in all(attributes) where name(of: attribute) == "available" {
            guard case .availability(let arguments) = attribute.arguments else { continue }
            let words = arguments.map { $0.argument.trimmedDescription }
            guard words.contains("deprecated") || words.contains("unavailable") || words.contains("obsoleted") else {
                continue
            }
            if let message = text(labeled: "message", in: arguments) { return Deprecation(message: message) }
            return Deprecation(message: text(labeled: "renamed", in: arguments).map { "Use \($0)." })
        }
        return nil
    }

    private func text(labeled label: String, in arguments: AvailabilityArgumentListSyntax) -> String? {
        for argument in arguments {
            guard case .availabilityLabeledArgument(let labeled) = argument.argument, labeled.label.text == label,
                case .string(let literal) = labeled.value
            else { continue }
            // SwiftSyntax has no `representedLiteralValue` for literals in attributes, so the literal is parsed again.
            var parser = Parser(literal.trimmedDescription)
            let text = ExprSyntax.parse(from: &parser).as(StringLiteralExprSyntax.self)?.representedLiteralValue
            return text.map(YAMLText.plain)
        }
        return nil
    }
}
