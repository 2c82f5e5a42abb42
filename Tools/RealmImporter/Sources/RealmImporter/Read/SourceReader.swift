import MartletSchema
import SwiftParser
import SwiftSyntax

/// Reads the declarations of one Swift file.
struct SourceReader {
    let locator: SourceLocator
    let values: ValueReader
    let attributes: AttributeReader
    private(set) var file: FileDeclarations

    static func read(_ source: SourceText) -> FileDeclarations {
        let tree = Parser.parse(source: String(decoding: source.bytes, as: UTF8.self))
        var reader = SourceReader(source)
        if tree.hasError {
            let errors = SyntaxErrorFinder()
            errors.walk(tree)
            let place = SourceSpan(file: source.file, start: errors.offset ?? 0, end: errors.offset ?? 0)
            reader.file.findings.add(
                .error, "syntax error; fix it, or leave the file out", at: place)
            return reader.file
        }
        let names = UsedNameFinder()
        names.walk(tree)
        reader.file.usedNames = names.names
        let local = LocalClassFinder()
        local.walk(tree)
        reader.file.localClasses = local.classes.map { node in
            let inherited = node.inheritanceClause?.inheritedTypes ?? []
            return (reader.locator.name(node.name), inherited.map { TypeExpression($0.type) })
        }
        for item in tree.statements { reader.read(item.item, outer: "") }
        return reader.file
    }

    private init(_ source: SourceText) {
        locator = SourceLocator(source: source)
        values = ValueReader(locator: locator)
        attributes = AttributeReader(locator: locator)
        file = FileDeclarations(source: source)
    }

    private mutating func read(_ item: CodeBlockItemSyntax.Item, outer: String) {
        if case .decl(let declaration) = item { read(declaration, outer: outer) }
    }

    /// - Parameter outer: the qualified name of the enclosing type; empty at file scope.
    private mutating func read(_ declaration: DeclSyntax, outer: String) {
        if let condition = declaration.as(IfConfigDeclSyntax.self) {
            for member in members(of: condition) { read(member, outer: outer) }
        } else if let alias = declaration.as(TypeAliasDeclSyntax.self) {
            file.aliases.append(read(alias, outer: outer))
        } else {
            readType(declaration, outer: outer)
        }
    }

    private func read(_ alias: TypeAliasDeclSyntax, outer: String) -> AliasDeclaration {
        AliasDeclaration(
            name: qualified(alias.name, outer),
            parameters: (alias.genericParameterClause?.parameters ?? []).map(\.name.plainText),
            target: TypeExpression(alias.initializer.value))
    }

    private func qualified(_ token: TokenSyntax, _ outer: String) -> Spanned<String> {
        let name = locator.name(token)
        return Spanned(outer.isEmpty ? name.value : "\(outer).\(name.value)", name.span)
    }

    private mutating func readType(_ declaration: DeclSyntax, outer: String) {
        if let node = declaration.as(ClassDeclSyntax.self) {
            read(node, .classType, qualified(node.name, outer), node.genericParameterClause)
        } else if let node = declaration.as(EnumDeclSyntax.self) {
            read(node, .enumeration, qualified(node.name, outer), node.genericParameterClause)
        } else if let node = declaration.as(StructDeclSyntax.self) {
            read(node, .structure, qualified(node.name, outer), node.genericParameterClause)
        } else if let node = declaration.as(ActorDeclSyntax.self) {
            read(node, .structure, qualified(node.name, outer), node.genericParameterClause)
        } else if let node = declaration.as(ProtocolDeclSyntax.self) {
            read(node, .protocolType, qualified(node.name, outer), nil)
        } else if let node = declaration.as(ExtensionDeclSyntax.self) {
            let name = TypeExpression(node.extendedType).head ?? node.extendedType.lineText
            read(node, .extensionOf, Spanned(name, locator.span(of: node.extendedType)), nil)
        }
    }

    private mutating func read(
        _ node: some DeclGroupSyntax, _ kind: TypeDeclaration.Kind, _ name: Spanned<String>,
        _ generics: GenericParameterClauseSyntax?
    ) {
        var type = TypeDeclaration(kind: kind, name: name, head: attributes.head(node.attributes, of: node))
        type.inherited = (node.inheritanceClause?.inheritedTypes ?? []).map {
            Spanned(TypeExpression($0.type), locator.span(of: $0.type))
        }
        type.isGeneric = generics != nil
        type.hasObjcMembers = attributes.named("objcMembers", in: node.attributes) != nil
        type.isObjc = attributes.named("objc", in: node.attributes) != nil
        type.objcName = attributes.objcName(node.attributes)
        let position = file.types.count
        file.types.append(type)
        for member in node.memberBlock.members { readMember(member.decl, of: &type) }
        file.types[position] = type
    }

    private mutating func readMember(_ declaration: DeclSyntax, of type: inout TypeDeclaration) {
        if let condition = declaration.as(IfConfigDeclSyntax.self) {
            for member in members(of: condition) { readMember(member, of: &type) }
        } else if let alias = declaration.as(TypeAliasDeclSyntax.self) {
            let alias = read(alias, outer: type.name.value)
            type.aliases.append(alias)
            file.aliases.append(alias)
        } else if !addMember(declaration, to: &type) {
            let position = file.types.count
            readType(declaration, outer: type.name.value)
            if file.types.count > position { type.nested.append(file.types[position].name) }
        }
    }

    // MARK: #if

    /// Returns the declarations of the first branch of `#if`, because a schema has no conditions. Reports the branches.
    private mutating func members(of condition: IfConfigDeclSyntax) -> [DeclSyntax] {
        let clauses = condition.clauses.map { ($0, declarations(of: $0)) }
        guard let first = clauses.first, clauses.contains(where: { $0.1.contains(where: isOfModel) }) else { return [] }
        let condition = first.0.condition.map { " \($0.lineText)" } ?? ""
        file.findings.warn(
            "a schema has no conditions, so the code below '#if\(condition)' is always included; "
                + "remove what should not be in the schema", at: locator.span(of: first.0.poundKeyword))
        for (clause, declarations) in clauses.dropFirst() where declarations.contains(where: isOfModel) {
            file.findings.warn(
                "the code below '\(clause.poundKeyword.text)' is left out; add it to the schema if needed",
                at: locator.span(of: clause.poundKeyword))
        }
        return first.1
    }

    private func isOfModel(_ declaration: DeclSyntax) -> Bool {
        declaration.is(VariableDeclSyntax.self) || declaration.asProtocol((any DeclGroupSyntax).self) != nil
            || declaration.is(TypeAliasDeclSyntax.self) || declaration.is(EnumCaseDeclSyntax.self)
            || declaration.is(IfConfigDeclSyntax.self)
    }

    private func declarations(of clause: IfConfigClauseSyntax) -> [DeclSyntax] {
        switch clause.elements {
        case .decls(let members): members.map(\.decl)
        case .statements(let items):
            items.compactMap { if case .decl(let declaration) = $0.item { declaration } else { nil } }
        default: []
        }
    }

    mutating func warn(_ message: String, at span: SourceSpan) { file.findings.warn(message, at: span) }
}
