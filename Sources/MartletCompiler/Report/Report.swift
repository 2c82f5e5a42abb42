public import MartletSchema

/// The findings of one run, over one schema or several, ready to be written in any format.
public struct Report: Sendable {
    /// The findings of one schema.
    struct Section: Sendable {
        /// The folder or file that was asked for; findings without a place are told of it.
        let name: String
        let sources: [SourceText]
        let diagnostics: [Diagnostic]
    }

    private(set) var sections: [Section] = []
    private let folder: String?

    /// - Parameter folder: the absolute path that machine formats count paths from; paths that are not below it stay as
    ///   they are.
    public init(pathsFrom folder: String? = nil) {
        self.folder = folder
    }

    public mutating func add(_ diagnostics: [Diagnostic], of sources: [SourceText], named name: String) {
        sections.append(Section(name: name, sources: sources, diagnostics: diagnostics))
    }

    /// The whole report; it ends with a line feed unless it is empty.
    public func text(as format: ReportFormat, isColored: Bool = false) -> String {
        format.writer(isColored: isColored).text(of: self)
    }

    // MARK: For the machine formats

    /// Every finding with its places worked out, in the order of the sections.
    var findings: [LocatedFinding] {
        var ordinals: [String: Int] = [:]
        return sections.flatMap { section in
            let places = PlaceTable(section.sources, folder: folder)
            let name = ReportPath.relative(section.name, to: folder)
            return section.diagnostics.map { finding in
                let path = places.path(of: finding.span) ?? name
                let key = Fingerprint.text([path, finding.code.rawValue, finding.message])
                defer { ordinals[key, default: 0] += 1 }
                return LocatedFinding(finding, path: path, ordinal: ordinals[key, default: 0], places: places)
            }
        }
    }

    /// Every file that was read, and the names of schemas that had none, once each.
    var paths: [String] {
        var seen: Set<String> = []
        return sections.flatMap { section in
            section.sources.isEmpty ? [section.name] : section.sources.map(\.displayPath)
        }.map { ReportPath.relative($0, to: folder) }.filter { seen.insert($0).inserted }
    }
}

/// A finding as the machine formats need it.
struct LocatedFinding {
    struct Note {
        let message: String
        let place: ReportPlace?
    }

    struct Mend {
        let title: String
        let applicability: Fix.Applicability
        let edits: [(place: ReportPlace, replacement: String)]
    }

    let diagnostic: Diagnostic
    /// Of the file, or the name of the schema when there is no place.
    let path: String
    let place: ReportPlace?
    let notes: [Note]
    let mends: [Mend]
    /// Stays when lines above the finding come and go.
    let fingerprint: String

    init(_ finding: Diagnostic, path: String, ordinal: Int, places: PlaceTable) {
        diagnostic = finding
        self.path = path
        place = finding.span.flatMap { places.place($0) }
        notes = finding.notes.map { Note(message: $0.message, place: $0.span.flatMap { places.place($0) }) }
        mends = finding.fixes.compactMap { fix in
            let edits = fix.edits.compactMap { edit in places.place(edit.span).map { ($0, edit.replacement) } }
            guard edits.count == fix.edits.count else { return nil }
            return Mend(title: fix.title, applicability: fix.applicability, edits: edits)
        }
        fingerprint = Fingerprint.text([path, finding.code.rawValue, finding.message, String(ordinal)])
    }

    var code: String { diagnostic.code.rawValue }
    var severity: Severity { diagnostic.severity }

    /// The message and the help on one line, as the brief format has them.
    var sentence: String { diagnostic.sentence }

    /// The notes that have a place, as `path:line:column: note: message`.
    var noteLines: [String] {
        notes.compactMap { note in
            note.place.map { "\($0.path.printable):\($0.start.line):\($0.start.column): note: \(note.message)" }
        }
    }
}
