public import MartletSchema

/// Prints findings in the format that editors and build logs recognize: `path:line:column: warning: message`.
public struct FindingPrinter {
    private let sources: [SourceFileID: SourceText]

    public init(sources: [SourceText]) {
        self.sources = Dictionary(sources.map { ($0.file, $0) }) { first, _ in first }
    }

    public func text(_ findings: [Finding]) -> String {
        findings.map { finding in
            guard let source = sources[finding.span.file] else { return "" }
            let place = source.position(at: finding.span.start)
            return "\(source.displayPath.printable):\(place.line):\(place.column): \(finding.severity.rawValue): "
                + finding.message.printable + "\n"
        }.joined()
    }
}
