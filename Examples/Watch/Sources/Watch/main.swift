import Foundation
import Martlet

// The same program is both: one process writes what happens, others watch.
let words = CommandLine.arguments.dropFirst()

func configuration(_ path: String) -> Realm.Configuration {
    Realm.Configuration(fileURL: URL(fileURLWithPath: path))
}

func complain(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

do {
    switch (words.first, words.count) {
    case ("feed", 3): try Airport(flights: URL(fileURLWithPath: words[3])).feed(configuration(words[2]))
    case ("watch", 2): try await Board().watch(configuration(words[2]))
    default:
        complain("usage: Watch feed <file> <flights.csv>\n       Watch watch <file>")
        exit(2)
    }
} catch {
    complain("Watch: \(error)")
    exit(1)
}
