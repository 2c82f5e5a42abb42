import ConformanceModels
import Foundation
import KennelModels
import MartletTestSupport
import Testing

@_spi(Generated) @testable import Martlet

/// A projection of enums, in the form that the schema compiler generates.
private final class EnumProjection: Projection<EnumHolder> {
    var mark: Grade { rootObject.grade }
    var number: Level? { rootObject.optionalLevel }

    @_spi(Generated) override public final class var _facts: StaticString {
        """
        projection EnumProjection EnumHolder
        label mark grade
        label number optionalLevel
        """
    }
}

@Suite("observing projections")
struct ProjectionObserveTests {
    private func start() throws -> (test: TestRealm, ada: Person, projection: PersonProjection, log: Log) {
        let test = try TestRealm()
        let ada = Person(firstName: "Ada", lastName: "L", address: Address(street: "Main", city: "Ulm"))
        try test.realm.write {
            test.realm.add(ada)
            ada.friends.append(Person(firstName: "Bob"))
        }
        let projection = try #require(test.realm.objects(PersonProjection.self).first { $0.firstName == "Ada" })
        let log = Log()
        log.tokens = [projection.observe { log.lines.append(text($0)) }]
        return (test, ada, projection, log)
    }

    private func expect(_ test: TestRealm, _ log: Log, _ lines: [String], _ location: SourceLocation = #_sourceLocation)
    {
        test.realm.refresh()
        #expect(log.take() == lines, sourceLocation: location)
    }

    @Test("only projected properties are reported, written through the object or through the projection N119")
    func projected() throws {
        let (test, ada, projection, log) = try start()
        try test.realm.write { ada.lastName = "M" }
        expect(test, log, [])
        try test.realm.write { ada.firstName = "Eve" }
        expect(test, log, ["firstName: Ada → Eve"])
        try test.realm.write { projection.firstName = "Zoe" }
        expect(test, log, ["firstName: Eve → Zoe"])
        try test.onNewThread { realm in
            try realm.write { realm.objects(PersonProjection.self).first { $0.firstName == "Zoe" }?.firstName = "Ida" }
        }
        expect(test, log, ["firstName: Zoe → Ida"])
    }

    @Test("values of enums are reported as cases N120")
    func enums() throws {
        let test = try TestRealm()
        let holder = EnumHolder(id: 1, grade: .good, level: .low, state: .open)
        try test.realm.write { test.realm.add(holder) }
        var changes: [PropertyChange] = []
        let token = EnumProjection(projecting: holder).observe { change in
            if case .change(_, let properties) = change { changes += properties }
        }
        try test.realm.write {
            holder.grade = .best
            holder.optionalLevel = .high
        }
        test.realm.refresh()
        #expect(changes.map(\.name) == ["mark", "number"])
        #expect(changes.first?.oldValue as? Grade == .good && changes.first?.newValue as? Grade == .best)
        #expect(changes.last?.oldValue == nil && changes.last?.newValue as? Level == .high)
        withExtendedLifetime(token) {}
    }

    @Test("changes have the labels and values of the projection, also for nested paths N120 N121")
    func labels() throws {
        let (test, ada, _, log) = try start()
        try test.realm.write { ada.address?.street = "Side" }
        expect(test, log, [])
        try test.realm.write { ada.address?.city = "Bonn" }
        expect(test, log, ["homeCity: Ulm → Bonn"])
        try test.realm.write { ada.address = nil }
        expect(test, log, ["homeCity: Bonn → nil"])
        try test.realm.write { ada.friends[0].firstName = "Rob" }
        expect(test, log, ["friendNames: nil → nil"])
        try test.realm.write { ada.friends[0].lastName = "X" }
        expect(test, log, [])
        try test.realm.write { ada.friends.removeAll() }
        expect(test, log, ["friendNames: nil → nil"])
    }

    @Test("a property to which several labels lead is reported once for each label N120")
    func severalLabels() throws {
        let test = try TestRealm()
        let nodes = (0..<4).map { Node(id: $0, name: "n\($0)") }
        try test.realm.write {
            test.realm.add(nodes)
            for index in 0..<3 { nodes[index].next = nodes[index + 1] }
        }
        let projection = NodeProjection(projecting: nodes[0])
        let log = Log()
        log.tokens = [
            projection.observe(keyPaths: ["next", "nextName", "nextNext", "deepName"]) { log.lines.append(text($0)) }
        ]
        try test.realm.write { nodes[0].next = nodes[1] }
        expect(
            test, log, ["next: object → object, nextName: n1 → n1, nextNext: object → object, deepName: n3 → n3"])
        try test.realm.write { nodes[3].name = "x" }
        expect(test, log, ["deepName: n3 → x"])
        try test.realm.write { nodes[0].next = nil }
        expect(test, log, ["next: object → nil, nextName: n1 → nil, nextNext: object → nil, deepName: x → nil"])
    }

    @Test("a key path is a label, the path behind a label, or a Swift key path of the projection N122")
    func keyPaths() throws {
        let (test, ada, projection, _) = try start()
        let log = Log()
        log.tokens = [
            projection.observe(keyPaths: ["firstName"]) { log.lines.append("a \(text($0))") },
            projection.observe(keyPaths: ["homeCity"]) { log.lines.append("b \(text($0))") },
            projection.observe(keyPaths: ["address.city"]) { log.lines.append("c \(text($0))") },
            projection.observe(keyPaths: [\PersonProjection.homeCity]) { log.lines.append("d \(text($0))") },
            projection.observe(keyPaths: [\PersonProjection.friendNames]) { log.lines.append("e \(text($0))") },
        ]
        try test.realm.write { ada.firstName = "Eve" }
        expect(test, log, ["a firstName: Ada → Eve"])
        try test.realm.write { ada.address?.city = "Bonn" }
        expect(test, log, ["b homeCity: Ulm → Bonn", "c homeCity: Ulm → Bonn", "d homeCity: Ulm → Bonn"])
        try test.realm.write { ada.friends[0].firstName = "Rob" }
        expect(test, log, ["e friendNames: nil → nil"])
    }

    @Test("deleting the root object is reported as a deletion N123")
    func deleted() throws {
        let (test, ada, _, log) = try start()
        try test.realm.write { test.realm.delete(ada) }
        expect(test, log, ["deleted"])
        try test.realm.write { test.realm.add(Person(firstName: "Ada")) }
        expect(test, log, [])
    }

    @Test("the observer receives the observed projection; silent writes are not reported N119")
    func instance() throws {
        let (test, ada, projection, log) = try start()
        var passed: PersonProjection?
        let token = projection.observe { change in
            if case .change(let projection, _) = change { passed = projection }
        }
        try test.realm.write(withoutNotifying: log.tokens) { ada.firstName = "Eve" }
        test.deliverAll()
        #expect(passed === projection)
        #expect(log.take() == [])
        withExtendedLifetime(token) {}
    }

    @Test("an observer on a queue gets a projection of a Realm of the queue N124")
    func onQueue() throws {
        let (test, ada, projection, _) = try start()
        let queue = DispatchQueue(label: "projections")
        let called = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var lines: [String] = []
        let token = projection.observe(on: queue) { change in
            if case .change(let projection, _) = change { lines.append(projection.firstName) }
            called.signal()
        }
        queue.sync {}
        try test.realm.write { ada.firstName = "Eve" }
        #expect(called.wait(timeout: .now() + 30) == .success)
        queue.sync { #expect(lines == ["Eve"]) }
        token.invalidate()
    }

    @Test("projected results report inserted and removed elements, and modifications of projected properties only N119")
    func results() throws {
        let (test, ada, _, _) = try start()
        let persons = test.realm.objects(PersonProjection.self)
        let log = Log()
        log.tokens = [
            persons.observe { log.lines.append("all \(text($0))") },
            persons.observe(keyPaths: ["homeCity"]) { log.lines.append("city \(text($0))") },
            persons.observe(keyPaths: [\PersonProjection.firstName]) { change in
                if case .update(let persons, _, _, _) = change {
                    log.lines.append(persons.map(\.firstName).joined(separator: " "))
                }
            },
        ]
        expect(test, log, ["all initial", "city initial"])
        try test.realm.write { ada.lastName = "M" }
        expect(test, log, [])
        try test.realm.write { ada.address?.city = "Bonn" }
        expect(test, log, ["all [] [] [0]", "city [] [] [0]"])
        try test.realm.write { ada.friends[0].firstName = "Rob" }
        expect(test, log, ["all [] [] [0, 1]", "Ada Rob"])
        try test.realm.write { test.realm.add(Person(firstName: "New")) }
        expect(test, log, ["all [] [2] []", "city [] [2] []", "Ada Rob New"])
    }
}
