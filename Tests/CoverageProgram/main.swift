import Foundation
import KennelModels
import Martlet

// Makes one write, or delivers one notification, and writes a coverage profile that contains only this work.
// 'Scripts/covered-files' builds this program with coverage, and finds the source files that contain executed code. It
// compares these files with the lists in ARCHITECTURE.md, 'write.txt' and 'notify.txt'.

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

/// Waits for background work, such as a checkpoint or the first use of a connection, because it must not be measured.
func waitForBackgroundWork() {
    let end = Date(timeIntervalSinceNow: 0.3)
    run { Date() > end }
}

// Only the last round is measured. The earlier rounds prepare statements, open connections and create the log.
let rounds = 5
switch CommandLine.arguments.dropFirst().first {
case "write":
    for round in 1...rounds {
        if round == rounds {
            waitForBackgroundWork()
            resetCounters()
        }
        try realm.write { dog.age = round }
    }
case "notify":
    var calls = 0
    let token = realm.objects(Dog.self).sorted(byKeyPath: "age").observe { _ in calls += 1 }
    run { calls == 1 }
    let begin = DispatchSemaphore(value: 0)
    let commit = DispatchSemaphore(value: 0)
    let written = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        do {
            let other = try Realm(configuration: configuration)
            for round in 1...rounds {
                begin.wait()
                try other.beginWrite()
                other.objects(Dog.self).first?.age = round
                written.signal()
                commit.wait()
                try other.commitWrite()
            }
        } catch {
            fatalError("\(error)")
        }
    }
    for round in 1...rounds {
        begin.signal()
        written.wait()
        if round == rounds {
            waitForBackgroundWork()
            resetCounters()
        }
        commit.signal()
        run { calls == round + 1 }
    }
    token.invalidate()
default:
    print("usage: CoverageProgram write|notify")
    exit(2)
}
// The program does not call `exit`, whose handlers would truncate the log and write the profile again.
_exit(writeProfile())
