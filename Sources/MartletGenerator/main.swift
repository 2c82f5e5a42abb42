import Foundation
import MartletCompiler

// The tool that MartletPlugin runs. It converts schema files to Swift files. The tool depends only on
// `MartletCompiler`, its dependencies, Foundation and libyaml, because it is compiled in every clean build of a package
// that uses the plugin.

do throws(UsageError) {
    let arguments = try Arguments(CommandLineArguments.all)
    exit(GeneratorRun(arguments: arguments).run())
} catch {
    GeneratorRun.report("MartletGenerator: error: \(error.message)\n\(Arguments.usage)\n")
    exit(2)
}
