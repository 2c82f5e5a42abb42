import Foundation
import KennelModels
import Martlet

// Makes one write, or delivers one notification, and writes a coverage profile of only this work.
// 'Scripts/covered-files' builds the program with coverage, and compares the source files that ran with the lists in
// ARCHITECTURE.md.

@_silgen_name("__llvm_profile_reset_counters") func resetCounters()
@_silgen_name("__llvm_profile_write_file") func writeProfile() -> Int32

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-coverage-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let configuration = Realm.Configuration(fileURL: folder.appendingPathComponent("coverage.realm"))

func run(until isDone: () -> Bool) {
    while !isDone() { _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001)) }
}

let realm = try Realm(configuration: configuration)
let dog = Dog(name: "Rex")
try realm.write { realm.add(dog) }

switch CommandLine.arguments.dropFirst().first {
case "write":
    // The first write is not measured: it prepares statements and creates the log.
    try realm.write { dog.age = 1 }
    resetCounters()
    try realm.write { dog.age = 2 }
case "notify":
    var calls = 0
    let token = realm.objects(Dog.self).observe { _ in calls += 1 }
    run { calls == 1 }
    for round in 1...2 {
        let written = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do {
                let other = try Realm(configuration: configuration)
                try other.beginWrite()
                other.objects(Dog.self).first?.age = round
                if round == 2 { resetCounters() }
                try other.commitWrite()
            } catch {
                fatalError("\(error)")
            }
            written.signal()
        }
        written.wait()
        run { calls == round + 1 }
    }
    token.invalidate()
default:
    print("usage: CoverageProgram write|notify")
    exit(2)
}
exit(writeProfile())
