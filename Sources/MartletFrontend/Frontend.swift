public import MartletSchema

/// Parses schema texts and resolves them to a model. The result does not depend on the disk, the time, or the order of
/// the files.
public enum Frontend {
    /// Parses and resolves a schema.
    ///
    /// - Parameters:
    ///   - namespace: the name of the enum that contains all types, from `martlet.yaml`. No type can have this name.
    ///   - findingsPerFile: the maximum number of findings that are reported for each file. Further findings are only
    ///     counted.
    /// - Returns: the model, which is nil if and only if a finding is an error, and the findings sorted by file and
    ///   place. A finding about the namespace comes last.
    public static func analyze(
        _ sources: [SourceText], namespace: Spanned<String>? = nil,
        findingsPerFile: Int = FindingLimit.maximumShownPerFile
    ) -> (model: SchemaModel?, diagnostics: [Diagnostic]) {
        LimitedFindings.$keptPerFile.withValue(max(LimitedFindings.keptPerFile, findingsPerFile)) {
            analyzed(sources, namespace, findingsPerFile)
        }
    }

    private static func analyzed(
        _ sources: [SourceText], _ namespace: Spanned<String>?, _ findingsPerFile: Int
    ) -> (model: SchemaModel?, diagnostics: [Diagnostic]) {
        guard !sources.isEmpty else {
            let message = "no schema found; put a '.yaml' file into the schema folder"
            return (nil, [Diagnostic(.noSchema, message, at: nil)])
        }
        let ordered = sources.sorted {
            $0.relativePath.utf8.lexicographicallyPrecedes($1.relativePath.utf8)
        }
        var diagnostics = LimitedFindings()
        var files: [FileSyntax] = []
        var wordsInUnparsedText: Set<String> = []
        // The findings of the schema parser and the resolver. Until they are filtered and added below, `diagnostics`
        // contains only findings about files and YAML syntax.
        var schemaFindings = LimitedFindings()
        var unreliableRanges: [SourceSpan] = []
        for source in ordered {
            let reading = FileReader.read(source)
            diagnostics += reading.diagnostics
            wordsInUnparsedText.formUnion(reading.wordsInUnparsedText)
            var parser = SchemaParser(source: source, comments: reading.comments)
            files.append(parser.parse(reading.root))
            schemaFindings += parser.diagnostics
            unreliableRanges += reading.unreliableRanges
        }
        var resolver = Resolver(files, wordsInUnparsedText: wordsInUnparsedText)
        let models = resolver.resolve()
        schemaFindings += resolver.diagnostics
        if !unreliableRanges.isEmpty {
            schemaFindings.removeAll { finding in
                unreliableRanges.contains { finding.span?.overlaps($0) == true }
            }
        }
        diagnostics += schemaFindings
        if !diagnostics.hasErrors, files.allSatisfy(\.declarations.isEmpty) {
            let message = "the schema declares nothing; write an object under 'objects:'"
            diagnostics.append(Diagnostic(.noSchema, message, at: ordered[0].span.beginning))
        }
        let clash = namespace.flatMap { resolver.symbols.clash(with: $0) }
        let findings =
            FindingLimit.apply(
                findingsPerFile, to: diagnostics.findings, in: ordered.map(\.file), dropped: diagnostics.dropped)
            + [clash].compactMap(\.self)
        let hasErrors = findings.contains(where: \.isError)
        return (hasErrors ? nil : SchemaModel(files: models, references: resolver.references), findings)
    }
}

extension SourceSpan {
    fileprivate func overlaps(_ other: SourceSpan) -> Bool {
        file == other.file && start < other.end && other.start < end
    }
}
