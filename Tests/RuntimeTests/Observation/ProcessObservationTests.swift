import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet
@testable import MartletEngine

@Suite("commits of other processes")
struct ProcessObservationTests {
    @Test("a commit of another process is detected and delivered like a commit of another thread N27")
    func detected() throws {
        let test = try TestRealm { $0.environment.commitPollMilliseconds = 0 }
        let dog = try test.dogs("Rex")[0]
        let logs = [Log(test.realm), Log(test.allDogs), Log(object: dog), Log(dog.siblings)]
        test.deliverAll()
        _ = logs.map { $0.take() }
        let other = try test.otherProcessRealm()
        try other.write {
            let dog = try other.dog("Rex")
            dog.age = 4
            dog.siblings.append(Dog(name: "Max"))
        }
        #expect(test.realm.context.hub.isIdle)
        test.realm.context.coordinator.pollForCommits()
        test.deliverAll()
        #expect(
            logs.map { $0.take() } == [
                ["didChange"], ["[] [1] [0]"], ["age: nil → 4, siblings: nil → nil"], ["[] [0] []"],
            ])
        test.realm.context.coordinator.pollForCommits()
        try test.realm.write {}
        test.realm.context.coordinator.pollForCommits()
        test.deliverAll()
        #expect(logs.map { $0.take() } == [["didChange"], [], [], []])
    }

    @Test("the commit monitor checks for commits of other processes while a Realm has observers N142")
    func timer() throws {
        let test = try TestRealm { $0.environment.commitPollMilliseconds = 5 }
        let log = Log(test.allDogs)
        test.deliverAll()
        let other = try test.otherProcessRealm()
        try other.write { other.add(Dog(name: "Rex")) }
        #expect(test.scheduler.waitForWork())
        test.deliverAll()
        #expect(log.take() == ["initial", "[] [0] []"])
    }

    @Test("a version that cannot be opened is delivered as an error, and later change sets are complete N150")
    func failure() throws {
        let test = try TestRealm { configuration in
            configuration.environment.commitPollMilliseconds = 0
            configuration.maximumNumberOfActiveVersions = 1
        }
        let log = Log(test.allDogs)
        var codes: [Realm.Error.Code?] = []
        let token = test.allDogs.observe {
            if case .error(let error) = $0 { codes.append((error as? Realm.Error)?.code) }
        }
        defer { token.invalidate() }
        test.deliverAll()
        #expect(log.take() == ["initial"])
        let other = try test.otherProcessRealm()
        try other.write { other.add(Dog(name: "Rex")) }
        test.realm.context.coordinator.pollForCommits()
        test.deliverAll()
        #expect(codes == [.tooManyVersions])
        let lines = log.take()
        #expect(lines.count == 1)
        #expect(lines.first?.contains("versions") == true)
        try other.write { other.add(Dog(name: "Bello")) }
        test.realm.context.coordinator.pollForCommits()
        test.deliverAll()
        #expect(codes.count == 1 && log.take() == [], "the failure is reported once")
        test.realm.invalidate()
        try test.realm.write {}
        test.deliverAll()
        #expect(log.take() == ["[] [0, 1] []"])
        try other.write { other.add(Dog(name: "Max")) }
        test.realm.context.coordinator.pollForCommits()
        test.deliverAll()
        #expect(codes == [.tooManyVersions, .tooManyVersions], "a failure after a delivery is reported again")
    }

    @Test("a failure that occurs inside a callback is reported after the callback N150", arguments: [false, true])
    func failureInCallback(inError: Bool) throws {
        let test = try TestRealm { configuration in
            configuration.environment.commitPollMilliseconds = 0
            configuration.maximumNumberOfActiveVersions = 1
        }
        let other = try test.otherProcessRealm()
        func commitElsewhere() {
            #expect(throws: Never.self) { try other.write { other.add(Dog(name: "Rex")) } }
            test.realm.context.coordinator.pollForCommits()
        }
        var calls: [String] = []
        let token = test.allDogs.observe { change in
            if case .error = change { calls.append("error") } else { calls.append("change") }
            // A nested run loop. The version of the other process cannot be opened.
            guard calls.count == (inError ? 2 : 1) else { return }
            commitElsewhere()
            #expect(test.scheduler.waitForWork())
            test.scheduler.run()
            calls.append("returned")
        }
        test.deliverAll()
        if inError {
            commitElsewhere()
            test.deliverAll()
        }
        #expect(calls == (inError ? ["change", "error", "returned"] : ["change", "returned", "error"]))
        test.realm.invalidate()
        commitElsewhere()
        test.deliverAll()
        #expect(calls.last == "change")
        token.invalidate()
    }

    @Test("a migration by another process is delivered once, as an error that does not mention a write N150 N143")
    func migration() throws {
        let test = try TestRealm { $0.environment.commitPollMilliseconds = 0 }
        try test.dogs("Rex")
        var errors: [Realm.Error] = []
        let token = test.allDogs.observe {
            if case .error(let error as Realm.Error) = $0 { errors.append(error) }
        }
        test.deliverAll()
        // In the schema of the other process, 'Dog' begins with a new property and lacks most other properties.
        let facts = "object Dog\nprimaryKey id\nproperty first Int\nproperty id ObjectId\nproperty name String index"
        let type = try #require(SchemaFactsParser.objectType(facts))
        let declaration = TypeDeclaration(type, defaultRow: { TableLayout.zeroRow(type) })
        let path = try #require(test.configuration.fileURL?.path)
        var options = StoreOptions(path: path, types: [declaration])
        options.schemaVersion = 1
        do { _ = try StoreCoordinator(options) }
        for _ in 0..<2 {
            test.realm.context.coordinator.pollForCommits()
            test.deliverAll()
        }
        #expect(errors.map(\.code) == [.schemaMismatch])
        #expect(errors.first?.message.contains("'Dog'") == true)
        #expect(errors.first?.message.contains("nothing was written") == false)
        #expect(throws: Realm.Error.self) { try test.realm.write {} }
        #expect(test.allDogs.map(\.name) == ["Rex"])
        token.invalidate()
    }

    @Test("linking objects report objects whose links another process has removed")
    func movedLinks() throws {
        let test = try TestRealm { $0.environment.commitPollMilliseconds = 0 }
        let dog = try test.dogs("Rex")[0]
        let ada = Person(firstName: "Ada")
        try test.realm.write { dog.owner = ada }
        let logs = [
            Log(object: ada, keyPaths: ["dogs"]), Log(test.realm.objects(Person.self), keyPaths: ["dogs.name"]),
            Log(ada.dogs),
        ]
        test.deliverAll()
        _ = logs.map { $0.take() }
        let other = try test.otherProcessRealm()
        try other.write { try other.dog("Rex").owner = nil }
        test.realm.refresh()
        #expect(logs.map { $0.take() } == [["dogs: nil → nil"], ["[] [] [0]"], ["[0] [] []"]])
    }

    @Test("changes of this process are reported exactly even after a commit of another process N174")
    func oldRowsOfThisProcess() throws {
        let test = try TestRealm { $0.environment.commitPollMilliseconds = 0 }
        try test.dogs("Rex", "Max")
        let log = Log(test.allDogs, keyPaths: ["owner.*"])
        test.deliverAll()
        _ = log.take()
        let other = try test.otherProcessRealm()
        try other.write { try other.dog("Max").age = 4 }
        // The former owner of Rex is nil, so the linking objects `dogs` of no person change. The runtime knows this
        // from the row before the write.
        try test.onNewThread { realm in try realm.write { try realm.dog("Rex").owner = nil } }
        test.realm.refresh()
        #expect(log.take() == ["[] [] [0]"])
    }

    @Test("a commit of a child process is delivered N142")
    func realProcess() async throws {
        let folder = URL(fileURLWithPath: "/tmp/martlet-process-\(getpid())")
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("test.realm")
        let queue = DispatchQueue(label: "parent")
        let called = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var lines: [String] = []
        nonisolated(unsafe) var tokens: [NotificationToken] = []
        try queue.sync {
            let realm = try Realm(configuration: .init(fileURL: url), queue: queue)
            tokens.append(
                realm.objects(Dog.self).observe { change in
                    lines.append(text(change))
                    called.signal()
                })
        }
        await wait(called)
        await #expect(processExitsWith: .success) {
            let url = URL(fileURLWithPath: "/tmp/martlet-process-\(getppid())").appendingPathComponent("test.realm")
            let realm = try Realm(configuration: .init(fileURL: url))
            try realm.write { realm.add(Dog(name: "Rex")) }
        }
        await wait(called)
        queue.sync {
            #expect(lines == ["initial", "[] [0] []"])
            tokens = []
        }
    }

    private func wait(_ semaphore: DispatchSemaphore) async {
        let isSignalled = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: semaphore.wait(timeout: .now() + 30) == .success)
            }
        }
        #expect(isSignalled)
    }
}
