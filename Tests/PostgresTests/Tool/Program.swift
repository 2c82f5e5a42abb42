#if Sync
    import Foundation
    import Synchronization
    import Testing

    /// The built program `martlet-sync`. Each call runs it in a new process.
    struct Program {
        struct Outcome {
            let status: Int32
            let output: String
            let errors: String
        }

        private let url: URL

        init() throws {
            url = try #require(Self.find(), "build the whole package first: swift build --traits Sync --build-tests")
        }

        private static func find() -> URL? {
            var folder = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            for _ in 0..<4 {
                let candidate = folder.appending(path: "martlet-sync")
                if FileManager.default.isExecutableFile(atPath: candidate.path()) { return candidate }
                folder.deleteLastPathComponent()
            }
            return nil
        }

        private func process(_ arguments: [String], _ environment: [String: String]) -> Process {
            let process = Process()
            process.executableURL = url
            process.arguments = arguments
            let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("MARTLET_") }
            process.environment = inherited.merging(environment) { $1 }
            return process
        }

        /// Runs the program to its end.
        func run(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> Outcome {
            let process = process(arguments, environment)
            let (output, errors) = (Pipe(), Pipe())
            process.standardOutput = output
            process.standardError = errors
            try process.run()
            async let text = Self.text(output)
            async let errorText = Self.text(errors)
            let result = await (text, errorText)
            process.waitUntilExit()
            return Outcome(status: process.terminationStatus, output: result.0, errors: result.1)
        }

        private static func text(_ pipe: Pipe) async -> String {
            await onThread { String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) }
        }

        /// Runs the service while `body` runs, and then ends the service with a signal. `body` gets the port of the
        /// service.
        func serve(
            _ arguments: [String], _ environment: [String: String], signal: Int32 = SIGTERM,
            _ body: @Sendable (Int) async throws -> Void
        ) async throws -> Outcome {
            let process = process(["serve", "--listen", "127.0.0.1:0"] + arguments, environment)
            let errors = Pipe()
            process.standardError = errors
            try process.run()
            let log = ServiceLog(errors)
            do {
                let port = try #require(await log.port(), "\(log.text)")
                try await body(port)
            } catch {
                process.terminate()
                throw error
            }
            kill(process.processIdentifier, signal)
            let text = await log.end()
            process.waitUntilExit()
            return Outcome(status: process.terminationStatus, output: "", errors: text)
        }
    }

    /// Runs a blocking function on a new thread, for example a function that waits for the end of a program. The thread
    /// pool of Swift concurrency has only as many threads as cores. A blocked thread of this pool could stop the
    /// clients of the test.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }

    /// The log that a service writes to a pipe.
    private final class ServiceLog: Sendable {
        private let all = Mutex("")
        private let pipe: Pipe

        init(_ pipe: Pipe) { self.pipe = pipe }

        var text: String { all.withLock { $0 } }

        /// Reads until the log contains the port of the service, and returns the port. Returns nil if the service ends
        /// before that.
        func port() async -> Int? {
            await onThread { [self] in
                while let text = read() {
                    if let match = text.firstMatch(of: /port=(\d+)/) { return Int(match.1) }
                }
                return nil
            }
        }

        /// Reads until the service ends, and returns the whole log.
        func end() async -> String {
            await onThread { [self] in
                while read() != nil {}
                return text
            }
        }

        /// Waits for the next bytes of the log, and returns the whole log up to now. Returns nil at the end of the log.
        private func read() -> String? {
            let data = pipe.fileHandleForReading.availableData
            if data.isEmpty { return nil }
            return all.withLock {
                $0 += String(decoding: data, as: UTF8.self)
                return $0
            }
        }
    }
#endif
