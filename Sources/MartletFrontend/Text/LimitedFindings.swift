package import MartletSchema

/// Collects findings, and limits how many of them are kept for each file.
///
/// A file of one megabyte can produce hundreds of thousands of findings, but only the first 200 are shown. If a file
/// has too many findings, the findings at its end are only counted. The time and the memory are therefore linear in the
/// size of the file.
package struct LimitedFindings {
    /// The maximum number of findings that remain for each file after pruning. Pruning runs when more than twice this
    /// number of findings is stored. The value is larger than the number of findings that are shown, because some
    /// findings are removed later. A command that applies fixes sets a higher value. The value is task-local, because
    /// instances of this type are created in many places during a run.
    @TaskLocal static var keptPerFile = defaultKeptPerFile
    static let defaultKeptPerFile = 5 * FindingLimit.maximumShownPerFile

    private struct Tally {
        var stored = 0
        /// Findings at or after this offset are only counted.
        var bound = Int.max
        var dropped = 0
        var hasDroppedErrors = false
    }

    package private(set) var findings: [Diagnostic] = []
    private var tallies: [SourceFileID: Tally] = [:]

    /// Whether a finding at this place is stored. If not, it is only counted.
    func storesFindings(at span: SourceSpan) -> Bool {
        tallies.isEmpty || span.start < tallies[span.file, default: Tally()].bound
    }

    /// Counts a finding without storing it.
    mutating func recordDropped(at span: SourceSpan, isError: Bool) {
        tallies[span.file, default: Tally()].dropped += 1
        if isError { tallies[span.file, default: Tally()].hasDroppedErrors = true }
    }

    mutating func append(_ finding: Diagnostic) {
        guard let span = finding.span else {
            findings.append(finding)
            return
        }
        guard storesFindings(at: span) else {
            recordDropped(at: span, isError: finding.isError)
            return
        }
        findings.append(finding)
        tallies[span.file, default: Tally()].stored += 1
        if tallies[span.file, default: Tally()].stored > 2 * Self.keptPerFile { prune(span.file) }
    }

    /// The number of findings of a file that were only counted, and whether errors are among them.
    package func dropped(of file: SourceFileID) -> (count: Int, hasErrors: Bool) {
        tallies[file].map { ($0.dropped, $0.hasDroppedErrors) } ?? (0, false)
    }

    /// Whether any kept or counted finding is an error.
    package var hasErrors: Bool {
        findings.contains(where: \.isError) || tallies.values.contains(where: \.hasDroppedErrors)
    }

    mutating func removeAll(where isUnwanted: (Diagnostic) -> Bool) {
        findings.removeAll(where: isUnwanted)
    }

    static func += (left: inout LimitedFindings, right: LimitedFindings) {
        for finding in right.findings { left.append(finding) }
        for (file, tally) in right.tallies where tally.dropped > 0 {
            left.tallies[file, default: Tally()].dropped += tally.dropped
            if tally.hasDroppedErrors { left.tallies[file, default: Tally()].hasDroppedErrors = true }
        }
    }

    static func += (left: inout LimitedFindings, right: [Diagnostic]) {
        for finding in right { left.append(finding) }
    }

    private mutating func prune(_ file: SourceFileID) {
        let places = findings.compactMap { $0.span.flatMap { $0.file == file ? $0.start : nil } }.sorted()
        let kept = Self.keptPerFile
        guard places.count > kept else {
            tallies[file]?.stored = places.count
            return
        }
        // Either all findings at a place are kept, or all of them are dropped.
        let bound = places[kept]
        var tally = tallies[file, default: Tally()]
        findings.removeAll { finding in
            guard let span = finding.span, span.file == file, span.start >= bound else { return false }
            tally.dropped += 1
            tally.hasDroppedErrors = tally.hasDroppedErrors || finding.isError
            return true
        }
        tally.stored = places.count { $0 < bound }
        tally.bound = bound
        tallies[file] = tally
    }
}
