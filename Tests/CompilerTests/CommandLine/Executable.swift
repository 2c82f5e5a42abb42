import Foundation
import Testing

/// The built command-line tool. Tests run it as a process.
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

    /// Searches all folders above the test process and the test bundle, because the number of folders between them and
    /// the tool depends on the build system.
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

    /// Runs the tool.
    ///
    /// - Parameter output: the standard output of the tool; if it is not nil, `Outcome.output` is empty.
    func run(
        _ arguments: [String], in folder: TemporaryFolder, environment: [String: String] = [:],
        output: FileHandle? = nil
    ) throws -> Outcome {
        try run(url, arguments, in: folder, environment: environment, output: output)
    }

    /// Runs a shell script in which `$MARTLET` is the path of the tool. Unlike `Process`, the script can use file names
    /// that are not UTF-8.
    func shell(_ script: String, in folder: TemporaryFolder) throws -> Outcome {
        try run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", script], in: folder, environment: ["MARTLET": url.path], output: nil
        )
    }

    /// Runs the tool with a limit on the size of each file (`ulimit -f`). The shell determines whether a block has 512
    /// or 1024 bytes. A write beyond the limit fails, as on a full disk. Standard output and standard error are merged.
    func run(_ arguments: [String], in folder: TemporaryFolder, blocks: Int) throws -> Outcome {
        let words = arguments.map { "'\($0)'" }.joined(separator: " ")
        // The script ignores signal 25 (SIGXFSZ), which would end the process. The output goes through a pipe, because
        // the limit does not apply to pipes.
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
        // The output goes to files. If nothing read a full pipe, the process would block.
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
