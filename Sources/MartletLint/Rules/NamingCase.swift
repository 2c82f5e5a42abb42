import MartletSchema

/// Checks that names follow the conventions of Swift, because the generated code uses the names unchanged.
struct NamingCase: LintRule {
    let code = DiagnosticCode.namingCase
    let requirement = "Types are UpperCamelCase; properties and cases lowerCamelCase."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        schema.files.flatMap { file in file.declarations.flatMap { names(of: $0) } }
            .compactMap { finding($0, schema) }
    }

    /// A declared name, its kind, and whether data is stored under it.
    private struct Name {
        let text: String
        let span: SourceSpan
        let kind: String
        let symbol: SymbolModel?
        var storage = Storage.none
    }

    private enum Storage {
        case none
        /// Data is stored under the name. After a change of the name, `renamedFrom` connects this data with the new
        /// name.
        case underName
        /// The name is the stored value.
        case asValue
    }

    private func names(of declaration: DeclarationModel) -> [Name] {
        switch declaration {
        case .enumeration(let model):
            [Name(text: model.name, span: model.nameSpan, kind: "type", symbol: .type(model.name))]
                + model.cases.map {
                    Name(
                        text: $0.name, span: $0.nameSpan, kind: "case",
                        symbol: .enumCase(owner: model.name, name: $0.name),
                        storage: $0.rawValue == .string($0.name) ? .asValue : .none)
                }
        case .object(let model):
            [Name(text: model.name, span: model.nameSpan, kind: "type", symbol: .type(model.name), storage: .underName)]
                + model.properties.filter { isMisnamed($0.name, isType: false) }.map {
                    Name(
                        text: $0.name, span: $0.nameSpan, kind: "property",
                        symbol: .property(owner: model.name, name: $0.name),
                        storage: $0.type.isLinkingObjects ? .none : .underName)
                } + model.ignored.map { Name(text: $0.name, span: $0.nameSpan, kind: "property", symbol: nil) }
                + model.keyPaths.map { Name(text: $0.name, span: $0.nameSpan, kind: "key path", symbol: nil) }
        case .projection(let model):
            [Name(text: model.name, span: model.nameSpan, kind: "type", symbol: .type(model.name))]
                + model.labels.map { Name(text: $0.name, span: $0.nameSpan, kind: "label", symbol: nil) }
        }
    }

    private func isMisnamed(_ name: String, isType: Bool) -> Bool {
        // Document databases use this name for the primary key.
        if name == "_id" { return false }
        let beginsUpper = name.utf8.first.map { (0x41...0x5A).contains($0) } == true
        return beginsUpper != isType || name.utf8.contains(UInt8(ascii: "_"))
    }

    private func finding(_ name: Name, _ schema: SchemaModel) -> Diagnostic? {
        let isType = name.kind == "type"
        guard isMisnamed(name.text, isType: isType) else { return nil }
        let right = isType ? NameWords.upperCamel(name.text) : NameWords.lowerCamel(name.text)
        let style = isType ? "UpperCamelCase" : "lowerCamelCase"
        let detail =
            switch name.storage {
            case .none: ""
            case .underName: " with 'renamedFrom: \(name.text)' if data is stored already"
            case .asValue: ", and '\(name.text)' as its stored value if data is stored already"
            }
        return Diagnostic(
            code, "\(name.kind) '\(name.text)' is not \(style); write '\(right)'", at: name.span,
            help: "write '\(right)'" + detail, fixes: renaming(name, to: right, schema).map { [$0] } ?? [])
    }

    /// A fix that renames the declaration and all references to it, and preserves stored data. nil if one of the
    /// necessary edits is not possible.
    private func renaming(_ name: Name, to right: String, _ schema: SchemaModel) -> Fix? {
        guard name.storage != .asValue, right.utf8.first.map({ !(0x30...0x39).contains($0) }) == true else {
            return nil
        }
        var edits = [Edit(name.span, right)]
        if name.storage == .underName {
            guard let addition = schema.renamedFromAddition(at: name.span) else { return nil }
            edits += addition
        }
        for span in name.symbol.flatMap({ schema.references[$0] }) ?? [] {
            // The range of a reference contains the name, or the name in quotes. A range of another length contains
            // more, such as an escape, and this fix does not support it.
            guard span.end - span.start - name.text.utf8.count == 0 || span.end - span.start - name.text.utf8.count == 2
            else { return nil }
            edits.append(Edit(span, right))
        }
        let suffix = name.storage == .underName ? " with 'renamedFrom'" : ""
        return Fix("rename it to '\(right)'\(suffix)", .suggested, edits.sorted { $0.span < $1.span })
    }
}
