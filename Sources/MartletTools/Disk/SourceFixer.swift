public import MartletCompiler
import MartletSchema

/// Applies safe fixes to the schema files on disk.
public struct SourceFixer {
    /// A report of the applied fixes.
    public struct Report: Sendable {
        /// The paths of the written files, sorted, with the number of fixes in each file.
        public let files: [(path: String, count: Int)]
        /// The paths of files that have safe fixes but were not changed, because they are outside of the schema folder.
        public let outside: [String]

        public var text: String {
            var lines = outside.map {
                "left '\($0.printable)' unchanged, because it is outside of the schema folder; "
                    + "fix it in its own folder"
            }
            let total = files.reduce(0) { $0 + $1.count }
            if total > 0 {
                let places = files.map { "\($0.path.printable) (\($0.count))" }.joined(separator: ", ")
                lines.append("applied \(total) \(total == 1 ? "fix" : "fixes") in \(places)")
            } else {
                lines.append("no fix to apply")
            }
            return lines.map { $0 + "\n" }.joined()
        }
    }

    private let writable: WritableFiles

    /// - Parameter paths: one schema folder, or the files of a schema. The fixer writes files only in this folder, or
    ///   in the folders that contain these files.
    public init(_ paths: [String]) {
        writable = WritableFiles(paths)
    }

    /// Applies the safe fixes, and writes either all changed files or none of them.
    ///
    /// - Throws: an error if a file cannot be written, or has changed since it was read.
    public func fix(
        _ input: SchemaInput, options: CompilerOptions = CompilerOptions()
    ) throws(DiskError) -> (input: SchemaInput, report: Report) {
        let writable = Set(input.allSources.filter { self.writable.contains($0.displayPath) }.map(\.file))
        let result = FixApplier.apply(input, options: options) { writable.contains($0.file) }
        let before = Dictionary(input.allSources.map { ($0.file, $0) }) { first, _ in first }
        var files: [(path: String, count: Int)] = []
        var batch = FileBatch()
        for source in result.input.allSources.sorted(by: { $0.displayPath < $1.displayPath }) {
            guard let old = before[source.file], old.bytes != source.bytes else { continue }
            try requireUnchanged(old)
            batch.replace(source.displayPath, with: source.bytes)
            files.append((source.displayPath, result.counts[source.displayPath] ?? 0))
        }
        _ = try batch.commit()
        return (result.input, Report(files: files, outside: outside(result.input, writable, options)))
    }

    private func outside(
        _ input: SchemaInput, _ writable: Set<SourceFileID>, _ options: CompilerOptions
    ) -> [String] {
        let left = Compiler.lint(input, options: options).diagnostics.compactMap { finding in
            finding.fixes.first?.applicability == .safe ? finding.span?.file : nil
        }
        return input.allSources.filter { !writable.contains($0.file) && left.contains($0.file) }.map(\.displayPath)
            .sorted()
    }

    private func requireUnchanged(_ source: SourceText) throws(DiskError) {
        guard (try? FileSystem.bytes(of: source.displayPath)) == source.bytes else {
            throw DiskError(
                path: source.displayPath, reason: "the file has changed since it was read; run the command again")
        }
    }
}
