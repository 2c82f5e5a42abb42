import MartletSchema

/// Loads the files of a schema.
public struct SourceLoader {
    /// The name of the configuration file.
    package static let configurationName = "martlet.yaml"
    /// The maximum number of bytes that are read from a file. The value is one byte above the limit of the schema
    /// language, so that larger files are detected.
    private static let maximumBytes = (1 << 20) + 1

    public init() {}

    /// Loads the given files. The build tool plugin passes all schema files of a target.
    ///
    /// The relative path of a file begins after `root`, or after the folder `Schemas` in `root`. For a file outside of
    /// `root`, the relative path is the absolute path without the first slash.
    public func load(
        files: [String], root: String, configuration: String?
    ) throws(DiskError) -> SchemaInput {
        let base = FileSystem.components(of: FileSystem.absolute(root))
        var named: [(relative: String, display: String)] = []
        for file in files {
            var parts = FileSystem.components(of: FileSystem.absolute(file))
            if parts.starts(with: base) { parts.removeFirst(base.count) }
            if parts.count > 1, parts.first == "Schemas" { parts.removeFirst() }
            named.append((parts.joined(separator: "/"), file))
        }
        return try read(named, configuration: configuration)
    }

    /// - Parameter files: for each file, its path relative to the schema folder, and its display path. The display path
    ///   is used to open the file and in messages.
    package func read(
        _ files: [(relative: String, display: String)], configuration: String?
    ) throws(DiskError) -> SchemaInput {
        let sorted = files.sorted { $0.relative.utf8.lexicographicallyPrecedes($1.relative.utf8) }
        var sources: [SourceText] = []
        for (index, file) in sorted.enumerated() {
            sources.append(
                SourceText(
                    file: SourceFileID(index), relativePath: file.relative, displayPath: file.display,
                    bytes: try FileSystem.bytes(of: file.display, upTo: Self.maximumBytes)))
        }
        var input = SchemaInput(sources: sources)
        if let configuration {
            input.configuration = SourceText(
                file: SourceFileID(sources.count), relativePath: Self.configurationName, displayPath: configuration,
                bytes: try FileSystem.bytes(of: configuration, upTo: Self.maximumBytes))
        }
        return input
    }
}
