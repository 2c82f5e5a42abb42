import Foundation
import MartletCompiler

// The tool that MartletPlugin runs. It converts schema files to Swift files. It depends only on `MartletCompiler` and
// the modules below it, Foundation and libyaml, since every clean build of a package with the plugin compiles it.

do throws(UsageError) {
    let arguments = try Arguments(CommandLineArguments.all)
    exit(GeneratorRun(arguments: arguments).run())
} catch {
    GeneratorRun.report("MartletGenerator: error: \(error.message)\n\(Arguments.usage)\n")
    exit(2)
}
