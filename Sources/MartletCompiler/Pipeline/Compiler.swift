import MartletBackend
import MartletFrontend
package import MartletSchema

/// A function that finds problems in a model that has no errors. The configuration determines which problems are
/// reported, and with which severity.
package typealias ModelCheck = (SchemaModel, [SourceText], LintConfiguration) -> [Diagnostic]

/// The pipeline from schema texts to Swift texts. It does not access the disk.
///
/// The pipeline reports the findings of the parser and the resolver. `MartletTools` adds the findings of the lint
/// rules.
public enum Compiler {
    /// The version that the tools report.
    public static let version = "0.1.0"

    /// Parses and resolves a schema, and generates code if there are no errors.
    public static func compile(_ input: SchemaInput, options: CompilerOptions = CompilerOptions()) -> Compilation {
        compile(input, options: options, modelCheck: nil)
    }

    /// Parses and resolves a schema, and generates no code.
    public static func check(_ input: SchemaInput, options: CompilerOptions = CompilerOptions()) -> Compilation {
        check(input, options: options, modelCheck: nil)
    }

    /// - Parameter modelCheck: an additional check. If it finds errors, no code is generated.
    package static func compile(
        _ input: SchemaInput, options: CompilerOptions, modelCheck: ModelCheck?
    ) -> Compilation {
        let checked = SchemaCheck(input, options: options, modelCheck: modelCheck)
        guard let model = checked.model else {
            return Compilation(model: nil, outputs: [], diagnostics: checked.diagnostics)
        }
        let access = options.access ?? checked.configuration.access ?? .public
        let outputs = Backend.generate(
            model, options: GenerationOptions(access: access, namespace: checked.configuration.namespace?.value))
        return Compilation(model: model, outputs: outputs, diagnostics: checked.diagnostics)
    }

    /// - Parameters:
    ///   - findingsPerFile: the maximum number of findings that are reported for each file.
    ///   - modelCheck: an additional check.
    package static func check(
        _ input: SchemaInput, options: CompilerOptions, findingsPerFile: Int = FindingLimit.maximumShownPerFile,
        modelCheck: ModelCheck?
    ) -> Compilation {
        let checked = SchemaCheck(input, options: options, findingsPerFile: findingsPerFile, modelCheck: modelCheck)
        return Compilation(model: checked.model, outputs: [], diagnostics: checked.diagnostics)
    }
}
