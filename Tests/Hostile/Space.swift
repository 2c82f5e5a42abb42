import Foundation
import Martlet

// Space.yaml declares types such as `Task` and `Result` in the namespace `Space`. This program uses them together with
// the types of Swift that have the same names, and checks to which declarations the names refer.
var failures = 0

@MainActor func check<Value: Equatable>(_ name: String, _ value: Value, _ expected: Value) {
    guard value != expected else { return }
    failures += 1
    print("\(name): \(value) is not \(expected)")
}

func plain() -> Result<Int, any Error> { .success(7) }

check("a type of the standard library", try plain().get(), 7)
check("another type of the standard library", await Task { 8 }.value, 8)
check("a default with the name of the namespace", Space.Task().Result, .Space)
check("the raw value of the case 'Space'", Space.Result.Space.rawValue, "Space")
check("an optional default named none", Space.Error().Result, .some(.none))
check("the default of an ignored property", Space.Task().Sequence, .some(.none))
check("one path", Space.Task.KeyPaths.Space.keyPath, "Space.Result")
check(
    "a list of paths", Space.Task.KeyPaths.Task.map(\.keyPath),
    ["Result", "Space.Space.Error.Space", "Array.Space.Result"])
check("through a deprecated property", Space.Task.KeyPaths.Error.keyPath, "old.Error.Space")
check("the name at run time", Space.Task.className(), "Task")
check("the name of a type named like a keyword", Space.class.className(), "class")

let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "space"))
let friend = Space.Task(id: 1, Result: .small)
let task = Space.Task(id: 2, Space: friend, Error: Space.Error(Space: "y"), Array: [friend], results: ["a": .Space])
try realm.write { realm.add(task) }
let clock = Space.Clock(projecting: task)
check("a label", clock.Space, .small)
check("a label through an embedded object", clock.Task, "y")
check("a projected collection", Array(clock.Clock), [.small])
check("a query", realm.objects(Space.Task.self).where { $0.Space.Result == .small }.count, 1)
check("linking objects", friend.back.map(\.id), [2])
check("an object by its key", realm.object(ofType: Space.Task.self, forPrimaryKey: 1)?.Result, .small)
check("classes of the Realm", realm.schema.objectSchema.map(\.className).sorted(), ["Error", "Task", "class"])
exit(failures == 0 ? 0 : 1)
