import CMartletTestVFS
import ConformanceModels
import Foundation
import Martlet
import MartletEngine

/// Executes commands from standard input, and answers each command with one line. A test runs several processes with
/// this loop on one file, and changes the file between the commands.
enum CommandLoop {
    static func run() {
        nonisolated(unsafe) var realm: Realm?
        while let line = nextLine() {
            let words = line.split(separator: " ").map(String.init)
            do {
                print(try execute(words, &realm))
            } catch {
                print("error \((error as? Realm.Error).map { $0.code.rawValue } ?? "\(error)")")
            }
            fflush(nil)
        }
    }

    /// The next line of standard input; nil at the end of the input. Reads with `read` and not with `readLine`, because
    /// `readLine` did not return in one test run.
    private static func nextLine() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            switch read(STDIN_FILENO, &byte, 1) {
            case 1 where byte == UInt8(ascii: "\n"): return String(decoding: bytes, as: UTF8.self)
            case 1: bytes.append(byte)
            case 0: return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
            default: if errno != EINTR { return nil }
            }
        }
    }

    /// Realms that stay open until the process ends.
    nonisolated(unsafe) private static var kept: [Realm?] = []

    private static func configuration(_ path: String) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [IntKey.self])
        configuration.durability = .off
        configuration.environment.log = { _ in }
        return configuration
    }

    private static func execute(_ words: [String], _ realm: inout Realm?) throws -> String {
        switch (words[0], words.dropFirst().first ?? "") {
        case ("open", let path):
            realm = try Realm(configuration: configuration(path))
        case ("read", let path):
            var configuration = configuration(path)
            configuration.readOnly = true
            realm = try Realm(configuration: configuration)
        case ("version", let path):
            return "\(try schemaVersionAtURL(URL(fileURLWithPath: path)))"
        case ("close", _):
            realm = nil
        case ("fill", let content):
            try realm?.write { for id in 1_000..<3_000 { realm?.add(IntKey(id: id, content: content)) } }
        case ("write", let id):
            try realm?.write { realm?.add(IntKey(id: Int(id) ?? 0, content: words[2]), update: .modified) }
        case ("begin", _):
            try realm?.beginWrite()
        case ("add", let id):
            realm?.add(IntKey(id: Int(id) ?? 0, content: words[2]))
        case ("commit", _):
            try realm?.commitWrite()
        case ("exhaust", _):
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            while open("/dev/null", O_RDONLY) >= 0 {}
        case ("fork", _):
            let child = cmartlet_fork()
            if child != 0 { return "\(child)" }
            // The test kills the child.
            while true { pause() }
        case ("all", _):
            realm?.refresh()
            return realm?.objects(IntKey.self).sorted(byKeyPath: "id").map { "\($0.id):\($0.content)" }
                .joined(separator: " ") ?? ""
        case ("count", _):
            realm?.refresh()
            return "\(realm?.objects(IntKey.self).count ?? 0)"
        case ("keep", _):
            kept.append(realm)
        case ("copy", let path):
            try realm?.writeCopy(toFile: URL(fileURLWithPath: path))
        default:
            return "unknown command"
        }
        return "ok"
    }
}
