public import MartletSchema

/// The files of one schema, and its optional configuration.
public struct SchemaInput: Sendable {
    public var sources: [SourceText]
    public var configuration: SourceText?
    /// Files of the schema folder that are ignored because of a wrong file extension.
    public var skippedFiles: [String] = []
    /// Whether only the configuration file is checked.
    public var isConfigurationOnly = false

    public init(sources: [SourceText], configuration: SourceText? = nil) {
        self.sources = sources
        self.configuration = configuration
    }

    /// All files that diagnostics can refer to.
    public var allSources: [SourceText] { sources + [configuration].compactMap(\.self) }
}
