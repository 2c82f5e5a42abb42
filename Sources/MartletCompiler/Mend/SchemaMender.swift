public import MartletSchema

/// What mending a schema came to.
public struct Mending: Sendable {
    /// The schema with the fixes in it.
    public let input: SchemaInput
    /// How many fixes were applied, by the path that findings show.
    public let counts: [String: Int]

    public var count: Int { counts.values.reduce(0, +) }
}

/// Applies the safe fixes of a schema's findings until none is left: pure values, no disk.
public enum SchemaMender {
    /// Each round applies what does not overlap and looks again; a schema needs as many as its fixes lie upon each other.
    static let maximumRounds = 1000
    /// More than people are shown, so that a schema with ten thousands of mistakes of one kind needs few rounds.
    static let findingsPerRound = 20_000

    /// - Parameter isMendable: false for a file whose text must stay as it is.
    public static func mend(
        _ input: SchemaInput, options: CompilerOptions = CompilerOptions(),
        isMendable: (SourceText) -> Bool = { _ in true }
    ) -> Mending {
        var input = input
        var counts: [String: Int] = [:]
        let mendable = Set(input.allSources.filter(isMendable).map(\.file))
        for _ in 0..<maximumRounds {
            let findings = Compiler.lint(input, options: options, findingsPerFile: findingsPerRound).diagnostics
            let fixes = chosen(from: findings, in: mendable)
            guard !fixes.isEmpty else { break }
            let paths = Dictionary(input.allSources.map { ($0.file, $0.displayPath) }) { first, _ in first }
            for fix in fixes {
                if let path = fix.edits.first.flatMap({ paths[$0.span.file] }) { counts[path, default: 0] += 1 }
            }
            let edits = Dictionary(grouping: fixes.flatMap(\.edits)) { $0.span.file }
            let apply = { (source: SourceText) in edits[source.file].map { source.applying($0) } ?? source }
            input = SchemaInput(
                sources: input.sources.map(apply), configuration: input.configuration.map(apply))
        }
        return Mending(input: input, counts: counts)
    }

    /// The first safe fix of each finding, as long as it touches nothing that another one of this round touches.
    private static func chosen(from findings: [Diagnostic], in mendable: Set<SourceFileID>) -> [Fix] {
        var taken = TakenRanges()
        var result: [Fix] = []
        for finding in findings {
            guard let fix = finding.fixes.first, fix.applicability == .safe,
                fix.edits.allSatisfy({ mendable.contains($0.span.file) && $0.changesText })
            else { continue }
            let spans = fix.edits.map(\.span)
            guard !spans.contains(where: taken.touch) else { continue }
            for span in spans { taken.insert(span) }
            result.append(fix)
        }
        return result
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
