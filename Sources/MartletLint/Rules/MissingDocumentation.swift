import MartletSchema

/// Documentation reaches the generated code; without it a type explains nothing.
struct MissingDocumentation: LintRule {
    let code = DiagnosticCode.missingDocumentation
    let purpose = "Types are documented, in words that say more than the name."

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
        let filler: Set<String> = [
            "a", "an", "the", "this", "is", "of", "represents", "model", "object", "type", "class",
        ]
        let words = documentation.split { !($0.isLetter || $0.isNumber) }.map { $0.lowercased() }
        let rest = words.filter { !filler.contains($0) }
        guard rest == Words.split(name).filter({ !filler.contains($0) }) else { return nil }
        return Diagnostic(
            code, "the documentation of '\(name)' repeats its name; say what it is for", at: span)
    }
}
