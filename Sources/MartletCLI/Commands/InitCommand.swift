import ArgumentParser
import MartletCompiler
import MartletSchema

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a first schema and say what to add to Package.swift.",
        discussion: "Nothing is overwritten: a folder that holds a schema already is left alone.")

    @Argument(help: "The schema folder; it is made where it is missing.", completion: .directory)
    var folder = "Schemas"

    func run() throws {
        let starter = SchemaStarter(folder: folder)
        let obstacles = starter.obstacles()
        guard obstacles.isEmpty else {
            let shown = obstacles.prefix(3).map { "'\($0)'" }.joined(separator: ", ")
            let rest = obstacles.count > 3 ? " and \(obstacles.count - 3) more" : ""
            throw CommandFailure(
                .findings, "nothing was written, since there is \(shown)\(rest) already; name another folder")
        }
        try loading { () throws(DiskError) in try starter.write() }
        try Console.write("wrote \(starter.path.printable)\n\n" + StarterSchema.advice(for: folder.printable))
    }
}
