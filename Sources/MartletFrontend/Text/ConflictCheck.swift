import MartletSchema

/// Finds the markers of unresolved merge conflicts. The parser then reads only the first side of each conflict.
struct ConflictCheck {
    private(set) var diagnostics: [Diagnostic] = []
    /// The ranges of the lines that are removed before parsing. A range does not contain the line break.
    private(set) var removedRanges: [Range<Int>] = []

    private enum Marker: UInt8 {
        case ours = 0x3C  // <
        case base = 0x7C  // |
        case theirs = 0x3D  // =
        case end = 0x3E  // >
    }

    init(_ source: SourceText) {
        var open: (span: SourceSpan, middle: SourceSpan?)?
        var isSkipping = false
        for line in 0..<source.lineCount {
            let range = source.lineRange(line)
            let marker = Self.marker(source.bytes[range])
            if marker == nil {
                if isSkipping { removedRanges.append(range) }
                continue
            }
            let span = SourceSpan(file: source.file, start: range.lowerBound, end: range.lowerBound + 7)
            switch marker {
            case .ours:
                if let open { report(open.span, middle: open.middle, end: nil) }
                open = (span, nil)
                isSkipping = false
            case .base, .theirs:
                // A line of equal signs outside a conflict is not a marker.
                guard let begun = open else { continue }
                open = (begun.span, begun.middle ?? span)
                isSkipping = true
            case .end:
                report(open?.span ?? span, middle: open?.middle, end: open == nil ? nil : span)
                open = nil
                isSkipping = false
            case nil: break
            }
            removedRanges.append(range)
        }
        if let open { report(open.span, middle: open.middle, end: nil) }
    }

    private mutating func report(_ span: SourceSpan, middle: SourceSpan?, end: SourceSpan?) {
        var notes: [DiagnosticNote] = []
        if let middle { notes.append(DiagnosticNote("the first side ends here", at: middle)) }
        if let end { notes.append(DiagnosticNote("the conflict ends here", at: end)) }
        diagnostics.append(
            Diagnostic(
                .mergeConflict, "unresolved merge conflict; keep one side and remove the markers", at: span,
                label: "conflict marker", notes: notes))
    }

    private static func marker(_ line: ArraySlice<UInt8>) -> Marker? {
        guard line.count >= 7, let first = line.first, let marker = Marker(rawValue: first) else { return nil }
        guard line.prefix(7).allSatisfy({ $0 == first }) else { return nil }
        if line.count > 7, line[line.startIndex + 7] != Byte.space { return nil }
        return marker
    }
}
