public import MartletBackend
public import MartletCompiler

extension OutputWriter {
    /// A difference between a file on disk and the generated file.
    public struct Difference: Hashable, Sendable {
        public enum Kind: String, Sendable {
            case missing
            case different
            /// A generated file that no schema file produces any more.
            case stale
        }

        public let path: String
        public let kind: Kind
        /// The number of the first differing line, counted from 1; nil for missing and stale files.
        public let line: Int?
        /// The differing lines. Lines on disk begin with `-`, and generated lines begin with `+`.
        public let changes: [String]
    }

    /// Compares generated files with the files on disk. This function does not write files.
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
