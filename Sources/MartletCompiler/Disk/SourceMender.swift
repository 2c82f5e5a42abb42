import MartletSchema

/// Applies safe fixes to the files of a schema on disk.
public struct SourceMender {
    /// What was done, in words for people.
    public struct Report: Sendable {
        /// The files written, sorted, with the number of fixes in each.
        public let files: [(path: String, count: Int)]
        /// Files with safe fixes that were left alone, since they lie outside of the schema folder.
        public let outside: [String]

        public var text: String {
            var lines = outside.map {
                "left '\($0.printable)' alone, which lies outside of the schema folder; fix it there"
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

    private let owned: OwnedFiles

    /// - Parameter paths: one schema folder, or the files of a schema: nothing else is ever written.
    public init(_ paths: [String]) {
        owned = OwnedFiles(paths)
    }

    /// Fixes the schema and writes the files whose bytes have changed, all of them or none.
    ///
    /// - Throws: when a file cannot be written, or has changed since it was read.
    public func mend(
        _ input: SchemaInput, options: CompilerOptions = CompilerOptions()
    ) throws(DiskError) -> (input: SchemaInput, report: Report) {
        let owned = Set(input.allSources.filter { self.owned.contains($0.displayPath) }.map(\.file))
        let mending = SchemaMender.mend(input, options: options) { owned.contains($0.file) }
        let before = Dictionary(input.allSources.map { ($0.file, $0) }) { first, _ in first }
        var files: [(path: String, count: Int)] = []
        var batch = FileBatch()
        for source in mending.input.allSources.sorted(by: { $0.displayPath < $1.displayPath }) {
            guard let old = before[source.file], old.bytes != source.bytes else { continue }
            try requireUnchanged(old)
            batch.replace(source.displayPath, with: source.bytes)
            files.append((source.displayPath, mending.counts[source.displayPath] ?? 0))
        }
        _ = try batch.commit()
        return (mending.input, Report(files: files, outside: outside(mending.input, owned, options)))
    }

    private func outside(
        _ input: SchemaInput, _ owned: Set<SourceFileID>, _ options: CompilerOptions
    ) -> [String] {
        let left = Compiler.lint(input, options: options).diagnostics.compactMap { finding in
            finding.fixes.first?.applicability == .safe ? finding.span?.file : nil
        }
        return input.allSources.filter { !owned.contains($0.file) && left.contains($0.file) }.map(\.displayPath)
            .sorted()
    }

    private func requireUnchanged(_ source: SourceText) throws(DiskError) {
        guard (try? FileSystem.bytes(of: source.displayPath)) == source.bytes else {
            throw DiskError(path: source.displayPath, reason: "the file has changed since it was read; run it again")
        }
    }
}
