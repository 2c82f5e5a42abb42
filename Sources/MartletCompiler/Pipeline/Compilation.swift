public import MartletBackend
public import MartletSchema

/// The result of a run.
public struct Compilation: Sendable {
    /// nil if the schema has errors.
    public let model: SchemaModel?
    /// Empty if the schema has errors.
    public let outputs: [OutputFile]
    /// Sorted by file and place.
    public let diagnostics: [Diagnostic]

    public var hasErrors: Bool { diagnostics.contains(where: \.isError) }
}
