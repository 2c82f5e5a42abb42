import MartletSchema

/// A range of a file, in all units that the report formats need.
struct ReportLocation {
    struct Point {
        /// The offset in bytes, counted from 0. A byte-order mark is counted.
        let offset: Int
        /// The line, counted from 1.
        let line: Int
        /// The column in Unicode scalars, counted from 1.
        let column: Int
        /// The column in UTF-16 code units, counted from 1.
        let utf16Column: Int
    }

    let path: String
    let start: Point
    /// The position after the last character.
    let end: Point
}

/// Converts the source ranges of one schema to locations.
struct LocationTable {
    private let sources: [SourceFileID: SourceText]
    private let folder: String?

    init(_ sources: [SourceText], folder: String?) {
        self.sources = Dictionary(sources.map { ($0.file, $0) }) { first, _ in first }
        self.folder = folder
    }

    func path(of span: SourceSpan?) -> String? {
        guard let span, let source = sources[span.file] else { return nil }
        return ReportPath.relative(source.displayPath, to: folder)
    }

    func location(of span: SourceSpan) -> ReportLocation? {
        guard let source = sources[span.file], let path = path(of: span) else { return nil }
        return ReportLocation(path: path, start: point(span.start, in: source), end: point(span.end, in: source))
    }

    private func point(_ offset: Int, in source: SourceText) -> ReportLocation.Point {
        let position = source.position(at: offset)
        return ReportLocation.Point(
            offset: offset, line: position.line, column: position.column, utf16Column: source.utf16Column(at: offset))
    }
}

/// Normalizes paths for machine-readable reports. The components are separated by `/`, and `.` and empty components are
/// removed. The absolute path of a file in the folder of the report becomes a path relative to this folder.
enum ReportPath {
    static func relative(_ path: String, to folder: String?) -> String {
        let steps = components(of: path)
        guard path.hasPrefix("/") else { return steps.isEmpty ? "." : steps.joined(separator: "/") }
        if let folder {
            let base = ReportPath.components(of: folder)
            if steps == base { return "." }
            if steps.starts(with: base) { return steps.dropFirst(base.count).joined(separator: "/") }
        }
        return "/" + steps.joined(separator: "/")
    }

    private static func components(of path: String) -> [String] {
        var steps: [String] = []
        for step in path.split(separator: "/") where step != "." {
            if step == "..", let last = steps.last, last != ".." {
                steps.removeLast()
            } else {
                steps.append(String(step))
            }
        }
        return steps
    }
}
