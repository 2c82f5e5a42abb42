public import MartletSchema

/// Schema texts in, a resolved model and findings out. Pure: no disk, no clock, no order of files matters.
public enum Frontend {
    /// More findings than this in one file help nobody; the rest is counted.
    static let maximumFindingsPerFile = 200

    /// Reads and resolves a schema.
    ///
    /// - Returns: the model, nil if and only if one of the findings is an error; the findings by file and place.
    public static func analyze(_ sources: [SourceText]) -> (model: SchemaModel?, diagnostics: [Diagnostic]) {
        guard !sources.isEmpty else {
            let message = "no schema found; put a '.yaml' file into the schema folder"
            return (nil, [Diagnostic(.noSchema, message, at: nil)])
        }
        let ordered = sources.sorted {
            $0.relativePath.utf8.lexicographicallyPrecedes($1.relativePath.utf8)
        }
        var diagnostics: [Diagnostic] = []
        var files: [FileSyntax] = []
        var lostWords: Set<String> = []
        var later: [Diagnostic] = []
        var doubtful: [SourceSpan] = []
        for source in ordered {
            let reading = FileReader.read(source)
            diagnostics += reading.diagnostics
            lostWords.formUnion(reading.lostWords)
            var parser = SchemaParser(source: source, comments: reading.comments)
            files.append(parser.parse(reading.root))
            later += parser.diagnostics
            doubtful += reading.doubtful
        }
        var resolver = Resolver(files, lostWords: lostWords)
        let model = resolver.resolve()
        diagnostics += (later + resolver.diagnostics).filter { finding in
            !doubtful.contains { finding.span?.overlaps($0) == true }
        }
        if !diagnostics.contains(where: \.isError), files.allSatisfy(\.declarations.isEmpty) {
            let message = "the schema declares nothing; write an object under 'objects:'"
            diagnostics.append(Diagnostic(.noSchema, message, at: ordered[0].span.beginning))
        }
        let findings = limited(diagnostics, in: ordered)
        return (findings.contains(where: \.isError) ? nil : model, findings)
    }

    /// By place, at most so many of each file, and each of them once.
    private static func limited(_ diagnostics: [Diagnostic], in sources: [SourceText]) -> [Diagnostic] {
        var rank: [SourceFileID: Int] = [:]
        for (index, source) in sources.enumerated() { rank[source.file] = index }
        var byFile = [[Diagnostic]](repeating: [], count: sources.count)
        for diagnostic in diagnostics {
            byFile[diagnostic.span.flatMap { rank[$0.file] } ?? 0].append(diagnostic)
        }
        return byFile.flatMap { findings in
            var sorted = findings.sortedByPlace()
            var seen: Set<Diagnostic> = []
            sorted.removeAll { !seen.insert($0).inserted }
            guard sorted.count > maximumFindingsPerFile else { return sorted }
            let rest = sorted.count - maximumFindingsPerFile
            let place = sorted[maximumFindingsPerFile].span
            let hasError = sorted[maximumFindingsPerFile...].contains(where: \.isError)
            return sorted.prefix(maximumFindingsPerFile) + [
                Diagnostic(
                    .limitExceeded, "\(rest) more findings in this file are not shown; mend the first ones", at: place,
                    severity: hasError ? .error : .warning)
            ]
        }
    }
}

extension SourceSpan {
    fileprivate func overlaps(_ other: SourceSpan) -> Bool {
        file == other.file && start < other.end && other.start < end
    }
}
