import Foundation
import Martlet

// This program has two commands: a process with the command 'feed' writes, and processes with 'watch' observe.
let arguments = CommandLine.arguments.dropFirst()

func configuration(_ path: String) -> Realm.Configuration {
    Realm.Configuration(fileURL: URL(fileURLWithPath: path))
}

func printError(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

do {
    switch (arguments.first, arguments.count) {
    case ("feed", 3): try Airport(flights: URL(fileURLWithPath: arguments[3])).feed(configuration(arguments[2]))
    case ("watch", 2): try await Board().watch(configuration(arguments[2]))
    default:
        printError("usage: Watch feed <file> <flights.csv>\n       Watch watch <file>")
        exit(2)
    }
} catch {
    printError("Watch: \(error)")
    exit(1)
}
