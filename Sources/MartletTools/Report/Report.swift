public import MartletSchema

/// The findings of one run of a command for one or several schemas. A report can be written in each `ReportFormat`.
public struct Report: Sendable {
    /// The findings of one schema.
    struct Section: Sendable {
        /// The path of the folder or file that the user has passed. It is the location of findings without a location
        /// of their own.
        let name: String
        let sources: [SourceText]
        let diagnostics: [Diagnostic]
    }

    private(set) var sections: [Section] = []
    private let folder: String?

    /// - Parameter folder: an absolute path. In machine-readable formats, the absolute path of a file in this folder
    ///   becomes a path relative to the folder.
    public init(pathsFrom folder: String? = nil) {
        self.folder = folder
    }

    public mutating func add(_ diagnostics: [Diagnostic], of sources: [SourceText], named name: String) {
        sections.append(Section(name: name, sources: sources, diagnostics: diagnostics))
    }

    /// The text of the report. A text that is not empty ends with a line feed.
    public func text(as format: ReportFormat, isColored: Bool = false) -> String {
        format.writer(isColored: isColored).text(of: self)
    }

    // MARK: For machine-readable formats

    /// All findings with their locations, in the order of the sections.
    var findings: [LocatedFinding] {
        var ordinals: [String: Int] = [:]
        return sections.flatMap { section in
            let locations = LocationTable(section.sources, folder: folder)
            let name = ReportPath.relative(section.name, to: folder)
            return section.diagnostics.map { finding in
                let path = locations.path(of: finding.span) ?? name
                let key = Fingerprint.text([path, finding.code.rawValue, finding.message])
                defer { ordinals[key, default: 0] += 1 }
                return LocatedFinding(finding, path: path, ordinal: ordinals[key, default: 0], locations: locations)
            }
        }
    }

    /// The paths of all files that were read, and the names of schemas without files. There are no duplicates.
    var paths: [String] {
        var seen: Set<String> = []
        return sections.flatMap { section in
            section.sources.isEmpty ? [section.name] : section.sources.map(\.displayPath)
        }.map { ReportPath.relative($0, to: folder) }.filter { seen.insert($0).inserted }
    }
}

/// A finding with the data that machine-readable formats need.
struct LocatedFinding {
    struct Note {
        let message: String
        let location: ReportLocation?
    }

    struct LocatedFix {
        let title: String
        let applicability: Fix.Applicability
        let edits: [(location: ReportLocation, replacement: String)]
    }

    let diagnostic: Diagnostic
    /// The path of the file, or the name of the schema if the finding has no location.
    let path: String
    let location: ReportLocation?
    let notes: [Note]
    let fixes: [LocatedFix]
    /// An identifier that does not change when lines above the finding are added or removed.
    let fingerprint: String

    init(_ finding: Diagnostic, path: String, ordinal: Int, locations: LocationTable) {
        diagnostic = finding
        self.path = path
        location = finding.span.flatMap { locations.location(of: $0) }
        notes = finding.notes.map {
            Note(message: $0.message, location: $0.span.flatMap { locations.location(of: $0) })
        }
        fixes = finding.fixes.compactMap { fix in
            let edits = fix.edits.compactMap { edit in
                locations.location(of: edit.span).map { ($0, edit.replacement) }
            }
            guard edits.count == fix.edits.count else { return nil }
            return LocatedFix(title: fix.title, applicability: fix.applicability, edits: edits)
        }
        fingerprint = Fingerprint.text([path, finding.code.rawValue, finding.message, String(ordinal)])
    }

    var code: String { diagnostic.code.rawValue }
    var severity: Severity { diagnostic.severity }

    /// The message and the help on one line, as in the format `brief`.
    var messageWithHelp: String { diagnostic.messageWithHelp }

    /// The notes that have a location, in the form `path:line:column: note: message`.
    var noteLines: [String] {
        notes.compactMap { note in
            note.location.map { "\($0.path.printable):\($0.start.line):\($0.start.column): note: \(note.message)" }
        }
    }
}
