public import MartletSchema

/// What mending a schema came to.
public struct Mending: Sendable {
    /// The schema with the fixes in it.
    public let input: SchemaInput
    /// How many fixes were applied, by the path that findings show.
    public let counts: [String: Int]
    /// How often the schema was looked at again behind some fixes.
    package let rounds: Int

    public var count: Int { counts.values.reduce(0, +) }
}

/// Applies the safe fixes of a schema's findings until none is left: pure values, no disk.
public enum SchemaMender {
    /// Each round applies what does not overlap and looks again; a schema needs as many as its fixes lie upon each other.
    /// No text of the fuzzer's corpus, and no change of one, takes half of them.
    static let maximumRounds = 24
    /// More than people are shown, so that a schema with ten thousands of mistakes of one kind needs few rounds.
    static let findingsPerRound = 20_000

    /// A fix that does not remove its finding would be applied for ever, and once more by the next run. Should there be
    /// one, all stays as it was: what is not mended is better than what is mended without end.
    ///
    /// - Parameter isMendable: false for a file whose text must stay as it is.
    public static func mend(
        _ input: SchemaInput, options: CompilerOptions = CompilerOptions(),
        isMendable: (SourceText) -> Bool = { _ in true }
    ) -> Mending {
        let original = input
        var input = input
        var counts: [String: Int] = [:]
        var last: [MendedFinding: Int] = [:]
        let mendable = Set(input.allSources.filter(isMendable).map(\.file))
        for round in 0..<maximumRounds {
            let findings = Compiler.lint(input, options: options, findingsPerFile: findingsPerRound).diagnostics
            let candidates = findings.compactMap { candidate($0, in: mendable) }
            guard !candidates.isEmpty else { return Mending(input: input, counts: counts, rounds: round) }
            let kinds = kinds(of: candidates, in: input)
            guard kinds != last else { break }
            last = kinds
            let fixes = chosen(from: candidates.map(\.fix))
            let paths = Dictionary(input.allSources.map { ($0.file, $0.displayPath) }) { first, _ in first }
            for fix in fixes {
                if let path = fix.edits.first.flatMap({ paths[$0.span.file] }) { counts[path, default: 0] += 1 }
            }
            let edits = Dictionary(grouping: fixes.flatMap(\.edits)) { $0.span.file }
            let apply = { (source: SourceText) in edits[source.file].map { source.applying($0) } ?? source }
            input = SchemaInput(
                sources: input.sources.map(apply), configuration: input.configuration.map(apply))
        }
        return Mending(input: original, counts: [:], rounds: maximumRounds)
    }

    /// What a round mends, as far as it can be told again in the next round: places move, lines seldom do.
    private struct MendedFinding: Hashable {
        let code: DiagnosticCode
        let message: String
        let file: SourceFileID?
        let line: Int?
    }

    private static func kinds(
        of candidates: [Candidate], in input: SchemaInput
    ) -> [MendedFinding: Int] {
        let sources = Dictionary(input.allSources.map { ($0.file, $0) }) { first, _ in first }
        return candidates.reduce(into: [:]) { counts, item in
            let span = item.finding.span
            let line = span.flatMap { span in sources[span.file]?.lineIndex(at: span.start) }
            let kind = MendedFinding(
                code: item.finding.code, message: item.finding.message, file: span?.file, line: line)
            counts[kind, default: 0] += 1
        }
    }

    private typealias Candidate = (finding: Diagnostic, fix: Fix)

    /// The first fix of a finding, when it is safe.
    private static func candidate(_ finding: Diagnostic, in mendable: Set<SourceFileID>) -> Candidate? {
        guard let fix = finding.fixes.first, fix.applicability == .safe,
            fix.edits.allSatisfy({ mendable.contains($0.span.file) && $0.changesText })
        else { return nil }
        return (finding, fix)
    }

    /// As many as touch nothing that another one of this round touches.
    private static func chosen(from fixes: [Fix]) -> [Fix] {
        var taken = TakenRanges()
        return fixes.filter { fix in
            let spans = fix.edits.map(\.span)
            guard !spans.contains(where: taken.touch) else { return false }
            for span in spans { taken.insert(span) }
            return true
        }
    }
}

extension Edit {
    /// An edit that takes nothing and gives nothing would go on for ever.
    fileprivate var changesText: Bool { !span.isEmpty || !replacement.isEmpty }
}

/// Ranges that lie apart from each other, by file and place.
private struct TakenRanges {
    private var ranges: [SourceFileID: [SourceSpan]] = [:]

    /// Whether one of them overlaps a range, or stands directly beside it: the order of the two would matter.
    func touch(_ span: SourceSpan) -> Bool {
        guard let ranges = ranges[span.file] else { return false }
        let place = place(of: span.start, in: ranges)
        return place < ranges.count && ranges[place].start <= span.end
    }

    mutating func insert(_ span: SourceSpan) {
        let place = place(of: span.start, in: ranges[span.file] ?? [])
        ranges[span.file, default: []].insert(span, at: place)
    }

    /// The first range that ends at an offset or behind it.
    private func place(of offset: Int, in ranges: [SourceSpan]) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].end < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension SourceText {
    /// The text with edits in it, which do not overlap. Everything else stays, byte for byte.
    func applying(_ edits: [Edit]) -> SourceText {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var cursor = 0
        for edit in edits.sorted(by: { $0.span < $1.span }) where edit.span.start >= cursor {
            result += bytes[cursor..<edit.span.start] + Array(edit.replacement.utf8)
            cursor = edit.span.end
        }
        result += bytes[cursor...]
        return SourceText(file: file, relativePath: relativePath, displayPath: displayPath, bytes: result)
    }
}
