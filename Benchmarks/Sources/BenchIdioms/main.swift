import Foundation
import Martlet

do {
    let options = try Options(Array(CommandLine.arguments.dropFirst()))
    precondition(Set(Idiom.all.map(\.name)).count == Idiom.all.count, "two idioms have the same name")
    if let name = options.idiom, let folder = options.directory {
        try Runner.measureOne(name, options, folder)
        exit(0)
    }
    if options.listsOnly {
        for idiom in options.idioms { print("\(idiom.growth.rawValue)\t\(idiom.name)") }
        exit(0)
    }
    let temporary = FileManager.default.temporaryDirectory.appending(path: "idioms-\(UUID())")
    let folder = options.directory ?? temporary
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let runner = Runner(options: options, folder: folder)
    let report: Report
    do {
        defer { try? FileManager.default.removeItem(at: temporary) }
        try runner.writeFiles()
        report = try runner.measureAll()
    }
    print(report.summary)
    exit(report.failing.isEmpty ? 0 : 1)
} catch let mistake as Mistake {
    log("BenchIdioms: \(mistake.text)\n\(Options.usage)")
    exit(2)
}
