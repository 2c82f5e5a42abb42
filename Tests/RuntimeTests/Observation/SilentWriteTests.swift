import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("silent writes with pending changes")
struct SilentWriteTests {
    /// A log of all dogs, and a write that an observer performs once.
    private final class Fixture {
        let test: TestRealm
        let log = Log()
        var pendingWrite: (() throws -> Void)?
        var observers: [NotificationToken] = []

        init() throws { test = try TestRealm() }

        func performPendingWrite() {
            guard let pendingWrite else { return }
            self.pendingWrite = nil
            #expect(throws: Never.self) { try pendingWrite() }
        }

        /// Observes all dogs with `log`, and discards the initial call.
        func observe() {
            log.tokens.append(test.allDogs.observe { [unowned self] in log.lines.append(text($0)) })
            test.deliverAll()
            _ = log.take()
        }

        func add(_ name: String) throws { try test.realm.write { test.realm.add(Dog(name: name)) } }

        func addSilently(_ name: String) throws {
            try test.realm.write(withoutNotifying: log.tokens) { test.realm.add(Dog(name: name)) }
        }

        func addElsewhere(_ name: String) throws {
            try test.onNewThread { realm in try realm.write { realm.add(Dog(name: name)) } }
        }
    }

    enum Trigger: CaseIterable {
        case commitAndDeliver, commitAndRefresh, commitAndWrite, remoteAndDeliver, remoteAndRefresh
    }

    @Test(
        "a silent write of a Realm observer is not reported with the change that called the observer N111 N112 N29",
        arguments: Trigger.allCases)
    func byRealmObserver(_ trigger: Trigger) throws {
        let fixture = try Fixture()
        fixture.observers = [fixture.test.realm.observe { _, _ in fixture.performPendingWrite() }]
        fixture.observe()
        fixture.pendingWrite = { try fixture.addSilently("Max") }
        switch trigger {
        case .commitAndDeliver, .commitAndRefresh, .commitAndWrite: try fixture.add("Rex")
        case .remoteAndDeliver, .remoteAndRefresh: try fixture.addElsewhere("Rex")
        }
        switch trigger {
        case .commitAndDeliver, .remoteAndDeliver: fixture.test.deliverAll()
        case .commitAndRefresh, .remoteAndRefresh: fixture.test.realm.refresh()
        case .commitAndWrite: try fixture.test.realm.write {}
        }
        #expect(fixture.log.take() == ["[] [0] []"])
        fixture.test.deliverAll()
        try fixture.add("Bo")
        fixture.test.deliverAll()
        #expect(fixture.log.take() == ["[] [2] []"])
        fixture.test.waitForSinglePin()
        #expect(fixture.test.realm.pinnedVersions.count == 1)
        fixture.observers = []
    }

    @Test("when refresh returns, all changes except silent ones have been delivered in order N29 N111 N112")
    func between() throws {
        let fixture = try Fixture()
        fixture.observers = [fixture.test.realm.observe { _, _ in fixture.performPendingWrite() }]
        fixture.observe()
        fixture.pendingWrite = {
            try fixture.addSilently("Max")
            try fixture.add("Bo")
            try fixture.addSilently("Cy")
            try fixture.addSilently("Di")
            try fixture.add("Ed")
        }
        try fixture.addElsewhere("Rex")
        #expect(fixture.test.realm.refresh())
        #expect(fixture.log.take() == ["[] [0] []", "[] [2] []", "[] [5] []"])
        fixture.test.deliverAll()
        #expect(fixture.log.take() == [])
        fixture.test.waitForSinglePin()
        #expect(fixture.test.realm.pinnedVersions.count == 1)
        fixture.observers = []
    }

    @Test("old values of an object change include a silent write of a Realm observer N111 N71")
    func values() throws {
        let fixture = try Fixture()
        let dog = try fixture.test.dogs("Rex")[0]
        fixture.observers = [fixture.test.realm.observe { _, _ in fixture.performPendingWrite() }]
        let log = Log(object: dog)
        fixture.pendingWrite = {
            try fixture.test.realm.write(withoutNotifying: log.tokens) { dog.age = 2 }
            try fixture.test.realm.write { dog.age = 3 }
        }
        try fixture.test.realm.write { dog.age = 1 }
        fixture.test.deliverAll()
        #expect(log.take() == ["age: nil → 1", "age: 2 → 3"])
        fixture.observers = []
    }

    @Test(
        "a nested delivery does not report an earlier silent write N111 N102 N104",
        arguments: [false, true])
    func nested(addsToNested: Bool) throws {
        let fixture = try Fixture()
        let (test, log) = (fixture.test, fixture.log)
        var names: [String] = []
        fixture.observers = [
            test.realm.observe { _, _ in fixture.performPendingWrite() },
            test.allDogs.observe { _ in
                // beginWrite calls this observer. The observer makes a change, which postpones the calls of the later
                // observers.
                guard test.realm.isInWriteTransaction, !names.isEmpty else { return }
                test.realm.add(Dog(name: names.removeFirst()))
            },
        ]
        var begins = false
        log.tokens = [
            test.allDogs.observe { change in
                log.lines.append(text(change))
                guard begins else { return }
                begins = false
                #expect(!test.realm.isInWriteTransaction)
                #expect(throws: Never.self) {
                    try fixture.addElsewhere("Bo")
                    try test.realm.write { log.lines.append("written") }
                }
            }
        ]
        test.deliverAll()
        _ = log.take()
        fixture.pendingWrite = { try fixture.addSilently("Max") }
        names = addsToNested ? ["Cy", "Di"] : ["Cy"]
        begins = true
        try fixture.addElsewhere("Rex")
        test.realm.refresh()
        #expect(log.take() == (addsToNested ? ["[] [0] []", "written"] : ["[] [0] []", "[] [3] []", "written"]))
        test.deliverAll()
        #expect(log.take() == (addsToNested ? ["[] [3, 4] []"] : []))
        #expect(test.allDogs.map(\.name) == ["Rex", "Cy", "Max", "Bo"] + (addsToNested ? ["Di"] : []))
        // A background thread may still compute changes for an older version, and pin this version.
        test.waitForSinglePin()
        #expect(test.realm.pinnedVersions.count == 1)
        log.end()
        fixture.observers = []
    }

    @Test("an observer is not called while the Realm shows changes of an open write N111 N104")
    func uncommitted() throws {
        let fixture = try Fixture()
        let (test, log) = (fixture.test, fixture.log)
        var (name, ownName): (String?, String?)
        fixture.observers = [
            test.allDogs.observe { _ in
                // beginWrite calls this observer. The observer makes a change, which postpones the calls of the later
                // observers.
                guard test.realm.isInWriteTransaction, let new = name else { return }
                name = nil
                test.realm.add(Dog(name: new))
            }
        ]
        log.tokens = [
            test.allDogs.observe { change in
                log.lines.append("\(text(change)) of \(test.allDogs.count)")
                guard test.realm.isInWriteTransaction, let new = ownName else { return }
                ownName = nil
                test.realm.add(Dog(name: new))
            }
        ]
        test.deliverAll()
        _ = log.take()
        try fixture.add("Rex")
        name = "Cy"
        try fixture.addSilently("Max")
        try fixture.addElsewhere("Bo")
        ownName = "Di"
        try test.realm.write {}
        #expect(log.take() == ["[] [0] [] of 4"])
        test.deliverAll()
        #expect(log.take() == ["[] [3, 4] [] of 5"])
        log.end()
        fixture.observers = []
    }

    @Test(
        "a write is reported if it precedes a silent asynchronous write, and the silent write is not reported N111 N132"
    )
    func afterGroupedCommit() throws {
        let fixture = try Fixture()
        fixture.observe()
        let realm = fixture.test.realm
        realm.writeAsync { realm.add(Dog(name: "Rex")) }
        realm.beginAsyncWrite {
            realm.add(Dog(name: "Max"))
            #expect(throws: Never.self) { try realm.commitWrite(withoutNotifying: fixture.log.tokens) }
        }
        fixture.test.finishAsyncWrites()
        fixture.test.deliverAll()
        #expect(fixture.log.take() == ["[] [0] []"])
        try fixture.add("Bo")
        fixture.test.deliverAll()
        #expect(fixture.log.take() == ["[] [2] []"])
    }

    @Test(
        "if a silent write has deleted the target of a link, the reported old value is an invalidated object N71 N111"
    )
    func deletedTarget() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        let log = Log(object: dog)
        log.tokens[0].pause()
        let person = Person(firstName: "Ada")
        try test.realm.write { dog.owner = person }
        try test.realm.write(withoutNotifying: log.tokens) { test.realm.delete(person) }
        #expect(log.take() == ["owner: nil → invalidated"])
        log.tokens[0].resume()
        try test.realm.write { dog.owner = Person(firstName: "Bea") }
        test.deliverAll()
        #expect(log.take() == ["owner: nil → Bea"])
    }
}
