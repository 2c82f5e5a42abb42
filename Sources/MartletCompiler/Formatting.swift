import MartletFrontend
public import MartletSchema

/// A schema file in its canonical layout.
public struct Formatting: Sendable {
    /// nil when the file cannot be read: the findings say why, and it is left alone.
    public let bytes: [UInt8]?
    public let diagnostics: [Diagnostic]
}

extension Compiler {
    /// Lays a file out anew, whatever it means; keys, values and comments stay as they are, and in their order.
    public static func format(_ source: SourceText) -> Formatting {
        let layout = Frontend.layOut(source)
        return Formatting(bytes: layout.bytes, diagnostics: layout.diagnostics)
    }
}
