import MartletSchema

/// Reports types without documentation, and types whose documentation only repeats the name. The compiler copies the
/// documentation to the generated code.
struct MissingDocumentation: LintRule {
    let code = DiagnosticCode.missingDocumentation
    let requirement = "Types have documentation that says more than their names."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        schema.files.flatMap { file in
            file.declarations.compactMap { declaration in
                switch declaration {
                case .enumeration(let model): check(model.name, model.nameSpan, model.documentation)
                case .object(let model): check(model.name, model.nameSpan, model.documentation)
                case .projection(let model): check(model.name, model.nameSpan, model.documentation)
                }
            }
        }
    }

    private func check(_ name: String, _ span: SourceSpan, _ documentation: String?) -> Diagnostic? {
        guard let documentation, !documentation.isEmpty else {
            return Diagnostic(code, "'\(name)' has no documentation; write a '##' line above it", at: span)
        }
        guard repeats(documentation, name) else { return nil }
        return Diagnostic(
            code, "the documentation of '\(name)' repeats its name; say what it is for", at: span)
    }

    private static let filler: Set<String> = [
        "a", "an", "the", "this", "is", "of", "represents", "model", "object", "type", "class",
    ]

    /// Whether the documentation consists of all words of the name, in their order, and of filler words such as "the".
    private func repeats(_ documentation: String, _ name: String) -> Bool {
        var expected = NameWords.split(name).filter { !Self.filler.contains($0) }[...]
        var rest = documentation[...]
        while let start = rest.firstIndex(where: Self.isWordCharacter) {
            let word = rest[start...].prefix(while: Self.isWordCharacter)
            rest = rest[word.endIndex...]
            let lowercased = word.lowercased()
            guard !Self.filler.contains(lowercased) else { continue }
            guard expected.popFirst() == lowercased else { return false }
        }
        return expected.isEmpty
    }

    private static func isWordCharacter(_ character: Character) -> Bool { character.isLetter || character.isNumber }
}
