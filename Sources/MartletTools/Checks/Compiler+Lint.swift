public import MartletCompiler
import MartletLint
import MartletSchema

extension Compiler {
    /// Parses, resolves and lints a schema, and generates code if there are no errors.
    public static func lintAndCompile(
        _ input: SchemaInput, options: CompilerOptions = CompilerOptions()
    ) -> Compilation {
        compile(input, options: options, modelCheck: rules)
    }

    /// Parses, resolves and lints a schema, and generates no code.
    public static func lint(_ input: SchemaInput, options: CompilerOptions = CompilerOptions()) -> Compilation {
        check(input, options: options, modelCheck: rules)
    }

    /// Parses, resolves and lints a schema, and generates no code.
    ///
    /// - Parameter findingsPerFile: the maximum number of findings that are reported for each file.
    static func lint(_ input: SchemaInput, options: CompilerOptions, findingsPerFile: Int) -> Compilation {
        check(input, options: options, findingsPerFile: findingsPerFile, modelCheck: rules)
    }

    private static func rules(
        _ model: SchemaModel, _ sources: [SourceText], _ configuration: LintConfiguration
    ) -> [Diagnostic] {
        Linter.lint(model, sources: sources, configuration: configuration)
    }
}
