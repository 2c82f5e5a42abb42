import Foundation
import Testing

/// A git repository in a temporary folder. It ignores the git configuration of the machine.
struct ScratchRepository {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try git("init", "--quiet", "--initial-branch=main")
    }

    var path: String { folder.path }

    /// Runs git in the repository and requires that it succeeds.
    ///
    /// - Returns: the standard output of the command, without the line feed at its end.
    @discardableResult
    func git(_ arguments: String...) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["git", "-C", path, "-c", "user.name=Anna", "-c", "user.email=anna@example.org"]
            + ["-c", "commit.gpgsign=false"] + arguments
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("GIT_") }
            .merging(["GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"]) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "git \(arguments.joined(separator: " "))")
        let text = String(decoding: data, as: UTF8.self)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    func write(_ text: String, to name: String = "Schemas/Dog.yaml") throws {
        try folder.write(text, to: name)
    }

    /// Commits all changes and returns the abbreviated hash of the commit. If `text` is not nil, it is written to the
    /// file `name` first.
    @discardableResult
    func commit(_ text: String? = nil, to name: String = "Schemas/Dog.yaml") throws -> String {
        if let text { try write(text, to: name) }
        try git("add", "--all")
        try git("commit", "--quiet", "--allow-empty", "--message=Work")
        return try git("rev-parse", "--short", "HEAD")
    }
}
