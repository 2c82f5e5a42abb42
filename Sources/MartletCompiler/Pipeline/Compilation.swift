public import MartletBackend
public import MartletSchema

/// The result of compiling a schema.
public struct Compilation: Sendable {
    /// The resolved schema; nil if the schema has errors.
    public let model: SchemaModel?
    /// The generated files; empty if the schema has errors.
    public let outputs: [OutputFile]
    /// The errors, warnings and notes, sorted by file and by position in the file.
    public let diagnostics: [Diagnostic]

    public var hasErrors: Bool { diagnostics.contains(where: \.isError) }
}
