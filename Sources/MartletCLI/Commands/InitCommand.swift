import ArgumentParser
import MartletCompiler
import MartletSchema
import MartletTools

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a first schema, and print what to add to Package.swift.",
        discussion: "Existing files are not overwritten. If the folder already contains a schema, the command fails.")

    @Argument(help: "The schema folder, which is created if it does not exist.", completion: .directory)
    var folder = "Schemas"

    func run() throws {
        let starter = SchemaStarter(folder: folder)
        let conflictingFiles = starter.conflictingFiles()
        guard conflictingFiles.isEmpty else {
            let shown = conflictingFiles.prefix(3).map { "'\($0)'" }.joined(separator: ", ")
            let rest = conflictingFiles.count > 3 ? " and \(conflictingFiles.count - 3) more" : ""
            throw CommandFailure(
                .findings, "nothing was written because of existing files: \(shown)\(rest); name another folder")
        }
        try reportingDiskErrors { () throws(DiskError) in try starter.write() }
        try Console.write("wrote \(starter.path.printable)\n\n" + StarterSchema.advice(for: folder.printable))
    }
}
