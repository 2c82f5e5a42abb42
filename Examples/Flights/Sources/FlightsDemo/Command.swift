import Foundation
import Martlet

/// The command, as its arguments describe it.
struct Command {
    static let usage = """
        usage: FlightsDemo [run] <folder of CSV files> [--days N] [--database FILE]
               FlightsDemo verify <folder of CSV files> --answers answers.json [--database FILE]
        """

    enum Mode { case run, verify(answers: URL) }

    let mode: Mode
    let folder: URL
    /// The number of days at the end of the data. The command simulates these days after it has imported the others.
    let days: Int
    /// The file of the Realm; nil if the command creates a temporary file.
    let database: URL?

    init(arguments: [String]) throws {
        var words: [String] = []
        var options: [String: String] = [:]
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word.hasPrefix("--") {
                guard ["--days", "--database", "--answers"].contains(word) else {
                    throw UsageError("there is no option '\(word)'")
                }
                guard let value = rest.popFirst() else { throw UsageError("'\(word)' needs a value") }
                options[word] = value
            } else {
                words.append(word)
            }
        }
        let isVerification = words.first == "verify"
        if isVerification || words.first == "run" { words.removeFirst() }
        guard words.count == 1 else { throw UsageError("name one folder of CSV files") }
        folder = URL(fileURLWithPath: words[0], isDirectory: true)
        database = options["--database"].map { URL(fileURLWithPath: $0) }
        guard let days = Int(options["--days"] ?? "2"), days >= 0 else {
            throw UsageError("'--days' needs a number of days")
        }
        self.days = isVerification ? 0 : days
        if isVerification {
            guard let answers = options["--answers"] else {
                throw UsageError("'verify' needs '--answers' with the file that Scripts/flights-answers.py wrote")
            }
            mode = .verify(answers: URL(fileURLWithPath: answers))
        } else {
            mode = .run
        }
    }

    /// Runs the command. Returns false if the mode is `verify` and an answer is wrong.
    func run() throws -> Bool {
        if let database { return try run(at: database) }
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("martlet-flights-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try run(at: folder.appendingPathComponent("flights.realm"))
    }

    private func run(at database: URL) throws -> Bool {
        let verification: Verification? =
            if case .verify(let answers) = mode { try Verification(answers: answers) } else { nil }
        let realm = try Realm(configuration: Realm.Configuration(fileURL: database))
        let start = ContinuousClock.now
        print("Importing \(folder.path)")
        var importer = FlightsImporter(folder: folder, realm: realm, progress: ImportProgress())
        let held = try importer.importAll(holdingBack: days)
        print("  in \(Self.seconds(since: start)), \(Self.peakMegabytes) MB peak memory\n")
        if let verification { return try verification.run(in: realm) }

        print("Questions")
        Question.askAll(of: realm)
        print("\nThe last \(days) days: \(held.count.grouped) flights, each change in its own transaction")
        try LastDays(realm: realm, importer: importer, records: held).run()
        return true
    }

    private static func seconds(since start: ContinuousClock.Instant) -> String {
        "\((((ContinuousClock.now - start) / .milliseconds(10)).rounded()) / 100) s"
    }

    private static var peakMegabytes: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) / 1024
    }
}
