public import MartletBackend
public import MartletSchema

/// The result of compiling a schema.
public struct Compilation: Sendable {
    /// nil if the schema has errors.
    public let model: SchemaModel?
    /// Empty if the schema has errors.
    public let outputs: [OutputFile]
    /// Sorted by file and by position in the file.
    public let diagnostics: [Diagnostic]

    public var hasErrors: Bool { diagnostics.contains(where: \.isError) }
}
