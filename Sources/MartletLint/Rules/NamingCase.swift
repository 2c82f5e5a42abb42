import MartletSchema

/// Names as Swift writes them, since they reach Swift unchanged.
struct NamingCase: LintRule {
    let code = DiagnosticCode.namingCase
    let purpose = "Types are UpperCamelCase; properties and cases lowerCamelCase."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        schema.files.flatMap { file in file.declarations.flatMap { check($0) } }
    }

    private func check(_ declaration: DeclarationModel) -> [Diagnostic] {
        switch declaration {
        case .enumeration(let model):
            [upper(model.name, model.nameSpan)].compactMap(\.self)
                + model.cases.compactMap { lower($0.name, $0.nameSpan, "case", isStored: false) }
        case .object(let model):
            [upper(model.name, model.nameSpan)].compactMap(\.self)
                + model.properties.compactMap { lower($0.name, $0.nameSpan, "property", isStored: true) }
                + model.ignored.compactMap { lower($0.name, $0.nameSpan, "property", isStored: false) }
                + model.keyPaths.compactMap { lower($0.name, $0.nameSpan, "key path", isStored: false) }
        case .projection(let model):
            [upper(model.name, model.nameSpan)].compactMap(\.self)
                + model.labels.compactMap { lower($0.name, $0.nameSpan, "label", isStored: false) }
        }
    }

    private func upper(_ name: String, _ span: SourceSpan) -> Diagnostic? {
        guard name.utf8.first.map({ !(0x41...0x5A).contains($0) }) == true || name.utf8.contains(UInt8(ascii: "_"))
        else { return nil }
        return finding("type", name, Words.upperCamel(name), span, isStored: true)
    }

    private func lower(_ name: String, _ span: SourceSpan, _ kind: String, isStored: Bool) -> Diagnostic? {
        guard name.utf8.first.map({ (0x41...0x5A).contains($0) }) == true || name.utf8.contains(UInt8(ascii: "_"))
        else { return nil }
        return finding(kind, name, Words.lowerCamel(name), span, isStored: isStored)
    }

    private func finding(
        _ kind: String, _ name: String, _ right: String, _ span: SourceSpan, isStored: Bool
    ) -> Diagnostic {
        let style = kind == "type" ? "UpperCamelCase" : "lowerCamelCase"
        let help =
            isStored ? "write '\(right)' with 'renamedFrom: \(name)' if data is stored already" : "write '\(right)'"
        return Diagnostic(code, "\(kind) '\(name)' is not \(style); write '\(right)'", at: span, help: help)
    }
}
