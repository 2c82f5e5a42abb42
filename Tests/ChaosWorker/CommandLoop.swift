import CMartletTestVFS
import ConformanceModels
import Foundation
import Martlet
import MartletEngine

/// Executes commands from standard input, and answers each with one line. A test uses several such processes on one file
/// and changes the file between the commands.
enum CommandLoop {
    static func run() {
        nonisolated(unsafe) var realm: Realm?
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            do {
                print(try execute(words, &realm))
            } catch {
                print("error \((error as? Realm.Error).map { $0.code.rawValue } ?? "\(error)")")
            }
            fflush(nil)
        }
    }

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
        case ("close", _):
            realm = nil
        case ("write", let id):
            try realm?.write { realm?.add(IntKey(id: Int(id) ?? 0, content: words[2]), update: .modified) }
        case ("begin", _):
            try realm?.beginWrite()
        case ("fork", _):
            let child = cmartlet_fork()
            if child != 0 { return "\(child)" }
            // The test kills the child.
            while true { pause() }
        case ("all", _):
            realm?.refresh()
            return realm?.objects(IntKey.self).sorted(byKeyPath: "id").map { "\($0.id):\($0.content)" }
                .joined(separator: " ") ?? ""
        case ("copy", let path):
            try realm?.writeCopy(toFile: URL(fileURLWithPath: path))
        default:
            return "unknown command"
        }
        return "ok"
    }
}
