/// Limits the number of findings that are shown for one file.
public enum FindingLimit {
    /// The default limit. Further findings are only counted.
    public static let maximumShownPerFile = 200

    /// Sorts findings by location, removes duplicates, and keeps at most `limit` findings for each file. If findings of
    /// a file are left out, an additional finding states their number.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of findings for each file.
    ///   - files: the files, in the order of the result. A finding without a location counts as a finding of the first
    ///     file.
    ///   - dropped: returns how many findings of a file were dropped before this call, and whether errors were among
    ///     them.
    public static func apply(
        _ limit: Int = maximumShownPerFile, to findings: [Diagnostic], in files: [SourceFileID],
        dropped: (SourceFileID) -> (count: Int, hasErrors: Bool) = { _ in (0, false) }
    ) -> [Diagnostic] {
        guard !files.isEmpty else { return findings.sortedByLocation() }
        var rank: [SourceFileID: Int] = [:]
        for (index, file) in files.enumerated() { rank[file] = index }
        var byFile = [[Diagnostic]](repeating: [], count: files.count)
        for finding in findings { byFile[finding.span.flatMap { rank[$0.file] } ?? 0].append(finding) }
        return zip(files, byFile).flatMap { file, findings in limited(findings, limit, dropped(file)) }
    }

    private static func limited(
        _ findings: [Diagnostic], _ limit: Int, _ dropped: (count: Int, hasErrors: Bool)
    ) -> [Diagnostic] {
        guard !findings.isEmpty else { return [] }
        let sorted = findings.sortedByLocation().withoutRepetitions()
        guard sorted.count > limit || dropped.count > 0 else { return sorted }
        let hidden = sorted.dropFirst(limit)
        let rest = hidden.count + dropped.count
        let hasError = dropped.hasErrors || hidden.contains(where: \.isError)
        let what = rest == 1 ? "one more finding in this file is" : "\(rest) more findings in this file are"
        return sorted.prefix(limit) + [
            Diagnostic(
                .limitExceeded, "\(what) not shown; fix the first ones",
                at: (hidden.first ?? sorted.last)?.span, severity: hasError ? .error : .warning)
        ]
    }
}

extension [Diagnostic] {
    /// Removes duplicates. The findings must be sorted by location and code, because only consecutive findings with the
    /// same location and code are compared.
    fileprivate func withoutRepetitions() -> [Diagnostic] {
        var result: [Diagnostic] = []
        result.reserveCapacity(count)
        var group: Set<Diagnostic> = []
        for finding in self {
            guard let last = result.last, last.span == finding.span, last.code == finding.code else {
                group.removeAll(keepingCapacity: true)
                result.append(finding)
                continue
            }
            // Most locations have one finding, so the set is only used for further findings at the same location.
            group.insert(last)
            if group.insert(finding).inserted { result.append(finding) }
        }
        return result
    }
}
