import Dispatch
import Foundation
import MartletCompiler
import MartletSchema
import Synchronization

/// Runs read-only `git` commands in one folder. They do not change the work tree or the index.
struct GitProcess {
    struct Outcome {
        let status: Int32
        let output: Data
        let errors: String

        /// The output as text. File names can contain bytes that are not UTF-8.
        var text: String { FileName.text(of: output) }
        /// The output without the trailing line feed.
        var line: String { text.hasSuffix("\n") ? String(text.dropLast()) : text }
    }

    /// Environment variables that git sets for its hooks. With these variables, git could use a repository or an index
    /// that does not belong to the folder.
    private static let repositoryVariables = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"]

    private let executable: URL
    private let folder: String
    private let environment: [String: String]

    /// - Parameter environment: the environment variables for `git`. Their `PATH` contains the folder of the program.
    init(folder: String, environment: [String: String]) throws(GitError) {
        let path = environment["PATH"] ?? ""
        let candidates = path.split(separator: ":").map { "\($0)/git" }
        guard let executable = candidates.first(where: FileManager.default.isExecutableFile) else {
            throw GitError("no program 'git' in PATH; install it, or compare with a folder")
        }
        self.executable = URL(fileURLWithPath: executable)
        guard folder.withVisibleBytes == folder else {
            throw GitError("git cannot be run in '\(folder.printable)', whose name is not UTF-8; compare with a folder")
        }
        self.folder = folder
        var environment = environment
        for name in Self.repositoryVariables { environment[name] = nil }
        // With these settings, git prints English messages, takes paths literally, and does not refresh the index.
        environment["LC_ALL"] = "C"
        environment["GIT_LITERAL_PATHSPECS"] = "1"
        environment["GIT_OPTIONAL_LOCKS"] = "0"
        self.environment = environment
    }

    /// - Parameter input: the standard input. It must not be larger than a pipe buffer, because this function does not
    ///   read the output while it writes the input.
    func run(_ arguments: [String], input: String = "") throws(GitError) -> Outcome {
        let process = Process()
        let (standardInput, output, errors) = (Pipe(), Pipe(), Pipe())
        process.executableURL = executable
        process.arguments = ["-C", folder] + arguments
        process.environment = environment
        process.standardInput = standardInput
        process.standardOutput = output
        process.standardError = errors
        do {
            try process.run()
            try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
            try standardInput.fileHandleForWriting.close()
            // Both pipes are read at the same time, because git waits while the buffer of either pipe is full.
            let errorReader = BackgroundReader(errors.fileHandleForReading)
            let data = try output.fileHandleForReading.readToEnd() ?? Data()
            let text = errorReader.finish()
            process.waitUntilExit()
            return Outcome(
                status: process.terminationStatus, output: data, errors: String(decoding: text, as: UTF8.self))
        } catch {
            throw GitError("'git \(arguments[0])' cannot be run; check that '\(executable.path)' works")
        }
    }

    /// Runs a command, and throws an error if its exit status is not 0.
    func output(_ arguments: [String], input: String = "") throws(GitError) -> Outcome {
        let outcome = try run(arguments, input: input)
        guard outcome.status == 0 else { throw failure(arguments[0], outcome) }
        return outcome
    }

    func failure(_ command: String, _ outcome: Outcome) -> GitError {
        let line = outcome.errors.split(separator: "\n").first.map { " and reported '\($0)'" } ?? ""
        return GitError("'git \(command)' exited with status \(outcome.status)\(line)")
    }
}

/// Reads a file handle to its end on another thread.
private final class BackgroundReader: Sendable {
    private let data = Mutex(Data())
    private let isDone = DispatchSemaphore(value: 0)

    init(_ handle: FileHandle) {
        Thread.detachNewThread { [self] in
            let read = try? handle.readToEnd()
            data.withLock { $0 = read ?? Data() }
            isDone.signal()
        }
    }

    /// Waits until the other end of the pipe is closed, and returns all bytes that were read.
    func finish() -> Data {
        isDone.wait()
        return data.withLock { $0 }
    }
}
