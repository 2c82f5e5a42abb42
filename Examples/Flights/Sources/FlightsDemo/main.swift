import Foundation
import Martlet

do {
    let command = try Command(arguments: Array(CommandLine.arguments.dropFirst()))
    exit(try command.run() ? 0 : 1)
} catch let error as UsageError {
    FileHandle.standardError.write(Data("flights: \(error)\n\(Command.usage)\n".utf8))
    exit(2)
} catch {
    FileHandle.standardError.write(Data("flights: \(error)\n".utf8))
    exit(1)
}
