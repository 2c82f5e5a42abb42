import Foundation
import MartletCompiler

// The tool behind MartletPlugin: schema files in, Swift files out. It has no dependency but Foundation and libyaml, since
// every cold build of a package that uses the plugin pays for it.

do throws(UsageError) {
    let arguments = try Arguments(CommandWords.all)
    exit(GeneratorRun(arguments: arguments).run())
} catch {
    GeneratorRun.report("MartletGenerator: error: \(error.message)\n\(Arguments.usage)\n")
    exit(2)
}
