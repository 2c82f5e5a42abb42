public import MartletBackend
public import MartletCompiler

extension OutputWriter {
    /// A difference between the disk and the generated files.
    public struct Difference: Hashable, Sendable {
        public enum Kind: String, Sendable {
            case missing
            case different
            /// A generated file that no schema file produces any more.
            case stale
        }

        public let path: String
        public let kind: Kind
        /// The first differing line, from 1; nil for missing and stale files.
        public let line: Int?
        /// The differing lines: `-` marks lines on disk, `+` marks generated lines.
        public let changes: [String]
    }

    /// Compares the files with the disk without writing.
    public func check(_ files: [OutputFile]) -> [Difference] {
        var differences: [Difference] = []
        for file in files {
            let path = path(of: file.name)
            guard let data = content(of: file.name) else {
                differences.append(Difference(path: path, kind: .missing, line: nil, changes: []))
                continue
            }
            guard data != Array(file.text.utf8) else { continue }
            let difference = LineDifference(from: data, to: Array(file.text.utf8))
            differences.append(
                Difference(path: path, kind: .different, line: difference.firstLine, changes: difference.changes))
        }
        for name in staleNames(files) {
            differences.append(Difference(path: path(of: name), kind: .stale, line: nil, changes: []))
        }
        return differences
    }
}
