public import MartletCompiler
public import MartletSchema

/// The result of applying fixes to a schema.
public struct FixResult: Sendable {
    /// The schema with the fixes applied.
    public let input: SchemaInput
    /// The number of applied fixes by display path.
    public let counts: [String: Int]
    /// The number of rounds in which fixes were applied.
    package let rounds: Int

    public var count: Int { counts.values.reduce(0, +) }
}

/// Applies the safe fixes of the findings of a schema, until no safe fix is left. This type does not access the disk.
public enum FixApplier {
    /// The maximum number of rounds. Each round checks the schema, and applies fixes that do not overlap. The texts in
    /// the corpus of the fuzzer and their mutations need at most half of these rounds.
    static let maximumRounds = 24
    /// The maximum number of findings for each file in a round. It is higher than the number of findings that a report
    /// shows, so that a schema with tens of thousands of similar mistakes needs few rounds.
    static let findingsPerRound = 20_000

    /// Applies the safe fixes. The original input is returned unchanged if the same findings remain after a round, or
    /// if fixes are left after the last round. Such fixes are not kept, because every further run would apply them
    /// again.
    ///
    /// - Parameter isFixable: returns false for a file whose text must not change.
    public static func apply(
        _ input: SchemaInput, options: CompilerOptions = CompilerOptions(),
        isFixable: (SourceText) -> Bool = { _ in true }
    ) -> FixResult {
        apply(input, options: options, maximumRounds: maximumRounds, isFixable: isFixable)
    }

    /// Applies the safe fixes as `apply(_:options:isFixable:)` does, with another maximum number of rounds.
    package static func apply(
        _ input: SchemaInput, options: CompilerOptions = CompilerOptions(), maximumRounds: Int,
        isFixable: (SourceText) -> Bool = { _ in true }
    ) -> FixResult {
        let original = input
        var input = input
        var counts: [String: Int] = [:]
        var previous: [FindingIdentity: Int] = [:]
        let fixable = Set(input.allSources.filter(isFixable).map(\.file))
        // The last pass of the loop applies no fixes. It only checks whether fixes are left.
        for round in 0...maximumRounds {
            let findings = Compiler.lint(input, options: options, findingsPerFile: findingsPerRound).diagnostics
            let candidates = findings.compactMap { candidate($0, in: fixable) }
            guard !candidates.isEmpty else { return FixResult(input: input, counts: counts, rounds: round) }
            let identities = identities(of: candidates, in: input)
            guard identities != previous, round < maximumRounds else { break }
            previous = identities
            let fixes = chosen(from: candidates.map(\.fix))
            let paths = Dictionary(input.allSources.map { ($0.file, $0.displayPath) }) { first, _ in first }
            for fix in fixes {
                if let path = fix.edits.first.flatMap({ paths[$0.span.file] }) { counts[path, default: 0] += 1 }
            }
            let edits = Dictionary(grouping: fixes.flatMap(\.edits)) { $0.span.file }
            let apply = { (source: SourceText) in edits[source.file].map { source.applying($0) } ?? source }
            input.sources = input.sources.map(apply)
            input.configuration = input.configuration.map(apply)
        }
        return FixResult(input: original, counts: [:], rounds: maximumRounds)
    }

    /// The values by which a finding of one round is recognized in the next round. They include the line but not the
    /// offset, because fixes seldom change line numbers.
    private struct FindingIdentity: Hashable {
        let code: DiagnosticCode
        let message: String
        let file: SourceFileID?
        let line: Int?
    }

    /// The number of findings with each identity.
    private static func identities(
        of candidates: [Candidate], in input: SchemaInput
    ) -> [FindingIdentity: Int] {
        let sources = Dictionary(input.allSources.map { ($0.file, $0) }) { first, _ in first }
        return candidates.reduce(into: [:]) { counts, item in
            let span = item.finding.span
            let line = span.flatMap { span in sources[span.file]?.lineIndex(at: span.start) }
            let identity = FindingIdentity(
                code: item.finding.code, message: item.finding.message, file: span?.file, line: line)
            counts[identity, default: 0] += 1
        }
    }

    private typealias Candidate = (finding: Diagnostic, fix: Fix)

    /// A finding and its first fix; nil if the finding has no fix, the fix is not safe, or the fix changes a file that
    /// must not change.
    private static func candidate(_ finding: Diagnostic, in fixable: Set<SourceFileID>) -> Candidate? {
        guard let fix = finding.fixes.first, fix.applicability == .safe,
            fix.edits.allSatisfy({ fixable.contains($0.span.file) && !$0.isEmptyInsertion })
        else { return nil }
        return (finding, fix)
    }

    /// The fixes that can be applied in one round: the ranges of their edits do not overlap or adjoin.
    private static func chosen(from fixes: [Fix]) -> [Fix] {
        var taken = TakenRanges()
        return fixes.filter { fix in
            let spans = fix.edits.map(\.span)
            guard !spans.contains(where: taken.touches) else { return false }
            for span in spans { taken.insert(span) }
            return true
        }
    }
}

extension Edit {
    /// Whether the edit changes nothing. Such an edit would count as a fix in every round.
    fileprivate var isEmptyInsertion: Bool { span.isEmpty && replacement.isEmpty }
}

/// The ranges of the chosen fixes. The ranges of a file are disjoint, and sorted by offset.
private struct TakenRanges {
    private var ranges: [SourceFileID: [SourceSpan]] = [:]

    /// Whether a range overlaps or adjoins one of the stored ranges. Adjoining ranges are not allowed, because the
    /// result of their edits would depend on the order.
    func touches(_ span: SourceSpan) -> Bool {
        guard let ranges = ranges[span.file] else { return false }
        let place = place(of: span.start, in: ranges)
        return place < ranges.count && ranges[place].start <= span.end
    }

    mutating func insert(_ span: SourceSpan) {
        let place = place(of: span.start, in: ranges[span.file] ?? [])
        ranges[span.file, default: []].insert(span, at: place)
    }

    /// The index of the first range that ends at or after an offset.
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
    /// The text after the edits. The edits must not overlap. All other bytes are unchanged.
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
