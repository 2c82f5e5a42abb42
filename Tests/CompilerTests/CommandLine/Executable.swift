import Foundation
import Testing

/// The command-line tool as it was built, run as a process.
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

    /// Beside the tests, wherever the build system puts these.
    private static func find() -> URL? {
        let places = [CommandLine.arguments[0], Bundle.main.bundlePath, Bundle(for: TemporaryFolder.self).bundlePath]
        for place in places {
            var folder = URL(fileURLWithPath: place).resolvingSymlinksInPath()
            for _ in 0..<4 {
                let candidate = folder.appendingPathComponent("martlet")
                if FileManager.default.isExecutableFile(atPath: candidate.path), !isFolder(candidate) {
                    return candidate
                }
                folder.deleteLastPathComponent()
            }
        }
        return nil
    }

    private static func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// - Parameter output: takes the place of the file that standard output goes to.
    func run(
        _ arguments: [String], in folder: TemporaryFolder, environment: [String: String] = [:],
        output: FileHandle? = nil
    ) throws -> Outcome {
        try run(url, arguments, in: folder, environment: environment, output: output)
    }

    /// Runs a script of the shell, to which the tool is `$MARTLET`: for what `Process` cannot say, such as names of bytes
    /// that are not UTF-8.
    func shell(_ script: String, in folder: TemporaryFolder) throws -> Outcome {
        try run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", script], in: folder, environment: ["MARTLET": url.path], output: nil
        )
    }

    /// Runs the tool where no file may become larger than so many blocks of 512 or 1024 bytes, as the shell counts: writing
    /// more fails as it does on a full disk. Both outputs are one.
    func run(_ arguments: [String], in folder: TemporaryFolder, blocks: Int) throws -> Outcome {
        let words = arguments.map { "'\($0)'" }.joined(separator: " ")
        // 25 is the signal that would end the process. The outputs go through a pipe, which has no size.
        let outcome = try shell(
            "(ulimit -f \(blocks); trap '' 25; \"$MARTLET\" \(words) 2>&1; echo $?) | cat", in: folder)
        var lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
        let status = lines.count > 1 ? Int32(lines.remove(at: lines.count - 2)) : nil
        return Outcome(status: try #require(status), output: lines.joined(separator: "\n"), errors: outcome.errors)
    }

    private func run(
        _ program: URL, _ arguments: [String], in folder: TemporaryFolder, environment: [String: String],
        output: FileHandle?
    ) throws -> Outcome {
        try folder.write("", to: ".output")
        try folder.write("", to: ".errors")
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "NO_COLOR" && $0.key != "TERM" }
            .merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        // Files, since a pipe that nobody empties would stop the process.
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path + "/.output"))
        let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path + "/.errors"))
        process.standardOutput = output ?? file
        process.standardError = errors
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationReason == .exit)
        return Outcome(
            status: process.terminationStatus, output: try folder.read(".output"), errors: try folder.read(".errors"))
    }
}
