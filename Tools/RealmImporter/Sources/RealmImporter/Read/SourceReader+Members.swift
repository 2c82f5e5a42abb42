import MartletSchema
import SwiftSyntax

/// Reads the members of types: properties, enum cases, overrides of Realm methods, and other code.
extension SourceReader {
    private static let customizations: Set<String> = [
        "primaryKey", "indexedProperties", "ignoredProperties", "propertiesMapping", "_realmColumnNames",
        "_realmObjectName", "shouldIncludeInDefaultSchema",
    ]

    /// - Returns: false if this method does not read such members, for example because the member is a type.
    mutating func addMember(_ declaration: DeclSyntax, to type: inout TypeDeclaration) -> Bool {
        if let node = declaration.as(VariableDeclSyntax.self) {
            type.properties += properties(node, of: type)
        } else if let node = declaration.as(EnumCaseDeclSyntax.self) {
            type.cases += cases(node)
        } else if let node = declaration.as(FunctionDeclSyntax.self) {
            addFunction(node, to: &type)
        } else if let node = declaration.as(InitializerDeclSyntax.self) {
            type.kept.append(
                SwiftOnlyMember(
                    what: "initializer 'init(\(labels(node.signature)))'", span: locator.span(of: node.initKeyword)))
        } else if let node = declaration.as(SubscriptDeclSyntax.self) {
            type.kept.append(SwiftOnlyMember(what: "subscript", span: locator.span(of: node.subscriptKeyword)))
        } else if let node = declaration.as(DeinitializerDeclSyntax.self) {
            type.kept.append(SwiftOnlyMember(what: "deinitializer", span: locator.span(of: node.deinitKeyword)))
        } else if let node = declaration.as(MacroExpansionDeclSyntax.self) {
            warn(
                "the macro '#\(node.macroName.text)' cannot be expanded; write out its expansion, and import again",
                at: locator.span(of: node))
        } else {
            return false
        }
        return true
    }

    private func labels(_ signature: FunctionSignatureSyntax) -> String {
        signature.parameterClause.parameters.map { $0.firstName.text + ":" }.joined()
    }

    private func addFunction(_ node: FunctionDeclSyntax, to type: inout TypeDeclaration) {
        let name = locator.name(node.name)
        let isOfType = node.modifiers.contains { ["static", "class"].contains($0.name.text) }
        guard isOfType, Self.customizations.contains(name.value) else {
            type.kept.append(
                SwiftOnlyMember(what: "method '\(name.value)(\(labels(node.signature)))'", span: name.span))
            return
        }
        type.customizations.append(Customization(name: name, value: returned(by: node)))
    }

    /// Returns the expression that a function returns; nil if its body contains anything else.
    private func returned(by function: FunctionDeclSyntax) -> ValueExpression? {
        guard let statements = function.body?.statements, statements.count == 1, let item = statements.first?.item
        else { return nil }
        switch item {
        case .expr(let expression): return values.read(expression)
        case .stmt(let statement): return statement.as(ReturnStmtSyntax.self)?.expression.map(values.read)
        case .decl: return nil
        }
    }

    private func cases(_ node: EnumCaseDeclSyntax) -> [CaseDeclaration] {
        let head = attributes.head(node.attributes, of: node)
        return node.elements.map { element in
            CaseDeclaration(
                name: locator.name(element.name), value: element.rawValue.map { values.read($0.value) },
                hasAssociatedValues: element.parameterClause != nil, head: head)
        }
    }

    // MARK: Properties

    private mutating func properties(
        _ node: VariableDeclSyntax, of owner: TypeDeclaration
    ) -> [PropertyDeclaration] {
        for condition in node.attributes.compactMap({ $0.as(IfConfigDeclSyntax.self) }) {
            warn(
                "attributes below '#if' are not read; write them without the condition, and import again",
                at: locator.span(of: condition))
        }
        var properties: [PropertyDeclaration] = []
        // In 'var a, b: Int', both variables have the type 'Int'.
        var type: TypeExpression?
        for binding in node.bindings.reversed() {
            type = binding.typeAnnotation.map { TypeExpression($0.type) } ?? (binding.initializer == nil ? type : nil)
            let names = names(in: binding.pattern)
            let isSingle = binding.pattern.is(IdentifierPatternSyntax.self)
            for name in names.reversed() {
                // The importer does not read the element types and values of a tuple such as '(a, b)'.
                var property = PropertyDeclaration(
                    name: name, owner: owner.name.value, head: attributes.head(node.attributes, of: node),
                    type: isSingle ? type : nil,
                    value: isSingle ? binding.initializer.map { values.read($0.value) } : nil)
                setModifiers(of: &property, node)
                setAccessors(of: &property, binding.accessorBlock)
                if let (persistence, value) = attributes.persistence(node.attributes) {
                    property.persistence = persistence
                    property.value = property.value ?? value
                }
                property.projection = attributes.projection(node.attributes)
                properties.append(property)
            }
        }
        return properties.reversed()
    }

    /// Returns the names in a pattern: one name, or for a tuple such as `(a, b)` the names of its elements.
    private func names(in pattern: PatternSyntax) -> [Spanned<String>] {
        if let single = pattern.as(IdentifierPatternSyntax.self) { return [locator.name(single.identifier)] }
        guard let tuple = pattern.as(TuplePatternSyntax.self) else { return [] }
        return tuple.elements.flatMap { names(in: $0.pattern) }
    }

    private func setModifiers(of property: inout PropertyDeclaration, _ node: VariableDeclSyntax) {
        let names = Set(node.modifiers.map(\.name.text))
        property.isDynamic = names.contains("dynamic")
        property.isLazy = names.contains("lazy")
        property.isWeak = !names.isDisjoint(with: ["weak", "unowned"])
        property.isStatic = !names.isDisjoint(with: ["static", "class"])
        property.hasPrivateModifier = !names.isDisjoint(with: ["private", "fileprivate"])
        property.isConstant = node.bindingSpecifier.tokenKind == .keyword(.let)
        property.isFullyPrivate = node.modifiers.contains {
            ["private", "fileprivate"].contains($0.name.text) && $0.detail == nil
        }
        property.isOverride = names.contains("override")
        property.isObjc = attributes.isObjc(node.attributes)
        property.isNonobjc = attributes.named("nonobjc", in: node.attributes) != nil
        property.objcName = attributes.objcName(node.attributes)?.value
    }

    private func setAccessors(of property: inout PropertyDeclaration, _ block: AccessorBlockSyntax?) {
        switch block?.accessors {
        case nil: break
        case .getter: property.isComputed = true
        case .accessors(let accessors):
            let observers: Set<String> = ["willSet", "didSet"]
            let names = Set(accessors.map(\.accessorSpecifier.text))
            property.isComputed = !names.isSubset(of: observers)
            property.hasObservers = !names.isDisjoint(with: observers)
        }
    }
}
