import Foundation
import Testing

/// Runs the built command-line tool as a process.
struct Executable {
    struct Outcome {
        let status: Int32
        let output: String
        let errors: String
    }

    private let url: URL

    init() throws {
        url = try #require(Executable.find(), "build the whole package first: swift build --build-tests")
    }

    /// Searches for the tool in the folders that contain the test bundle. Their layout depends on the build system.
    private static func find() -> URL? {
        let places = [CommandLine.arguments[0], Bundle.main.bundlePath, Bundle(for: TemporaryFolder.self).bundlePath]
        for place in places {
            var folder = URL(fileURLWithPath: place).resolvingSymlinksInPath()
            for _ in 0..<4 {
                let candidates = ["realm-importer", "RealmImporterCLI"].map { folder.appendingPathComponent($0) }
                if let found = candidates.first(where: isProgram) { return found }
                folder.deleteLastPathComponent()
            }
        }
        return nil
    }

    private static func isProgram(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
        return exists && !isFolder.boolValue && FileManager.default.isExecutableFile(atPath: url.path)
    }

    func run(_ arguments: [String], in folder: TemporaryFolder) throws -> Outcome {
        try run(url, arguments, in: folder)
    }

    /// Runs a shell script in which `$IMPORTER` is the tool.
    func shell(_ script: String, in folder: TemporaryFolder) throws -> Outcome {
        try run(URL(fileURLWithPath: "/bin/sh"), ["-c", "IMPORTER='\(url.path)'\n" + script], in: folder)
    }

    private func run(_ program: URL, _ arguments: [String], in folder: TemporaryFolder) throws -> Outcome {
        try folder.write("", to: ".output")
        try folder.write("", to: ".errors")
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.standardInput = FileHandle.nullDevice
        // The output goes to files, because a process blocks if its pipe is full and nothing reads it.
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path + "/.output"))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path + "/.errors"))
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationReason == .exit)
        return Outcome(
            status: process.terminationStatus, output: try folder.read(".output"), errors: try folder.read(".errors"))
    }
}
