public import MartletSchema

/// Findings as editors and build logs read them: `path:line:column: warning: message`.
public struct FindingPrinter {
    private let sources: [SourceFileID: SourceText]

    public init(sources: [SourceText]) {
        self.sources = Dictionary(sources.map { ($0.file, $0) }) { first, _ in first }
    }

    public func text(_ findings: [Finding]) -> String {
        findings.map { finding in
            guard let source = sources[finding.span.file] else { return "" }
            let place = source.position(at: finding.span.start)
            return "\(source.displayPath):\(place.line):\(place.column): \(finding.severity.rawValue): "
                + finding.message + "\n"
        }.joined()
    }

    /// `imported 20 types into 7 files; 3 warnings and 1 note`.
    public static func summary(of result: Import) -> String {
        let findings = [Severity.error, .warning, .note].compactMap { severity in
            counted(result.findings.count { $0.severity == severity }, severity.rawValue)
        }
        let types = counted(result.typeCount, "type") ?? "no types"
        let files = counted(result.outputs.count, "file").map { " into \($0)" } ?? ""
        let list = findings.isEmpty ? "" : "; " + findings.joined(separator: ", ")
        return "imported \(types)\(files)\(list)"
    }

    private static func counted(_ count: Int, _ word: String) -> String? {
        count == 0 ? nil : "\(count) \(word)\(count == 1 ? "" : "s")"
    }
}
