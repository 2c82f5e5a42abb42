public import MartletCompiler
import MartletFrontend
public import MartletSchema

/// The result of formatting a schema file.
public struct Formatting: Sendable {
    /// The formatted bytes; nil if the file cannot be parsed, as the diagnostics explain.
    public let bytes: [UInt8]?
    public let diagnostics: [Diagnostic]
}

extension Compiler {
    /// Formats a file without checking its schema. Keys, values and comments keep their text and order.
    public static func format(_ source: SourceText) -> Formatting {
        let layout = Frontend.layOut(source)
        return Formatting(bytes: layout.bytes, diagnostics: layout.diagnostics)
    }
}
