import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("silent writes that follow what is still to be told")
struct SilentWriteTests {
    /// A log of all dogs, and somebody who is to write once, without telling it.
    private final class Scene {
        let test: TestRealm
        let log = Log()
        var deed: (() throws -> Void)?
        var observers: [NotificationToken] = []

        init() throws { test = try TestRealm() }

        func act() {
            guard let deed else { return }
            self.deed = nil
            #expect(throws: Never.self) { try deed() }
        }

        /// Begins to be told, and has been told of nothing but the beginning.
        func watch() {
            log.tokens.append(test.allDogs.observe { [unowned self] in log.lines.append(text($0)) })
            test.settle()
            _ = log.take()
        }

        func add(_ name: String) throws { try test.realm.write { test.realm.add(Dog(name: name)) } }

        func addSilently(_ name: String) throws {
            try test.realm.write(withoutNotifying: log.tokens) { test.realm.add(Dog(name: name)) }
        }

        func addElsewhere(_ name: String) throws {
            try test.elsewhere { realm in try realm.write { realm.add(Dog(name: name)) } }
        }
    }

    enum Way: CaseIterable { case commitAndTurn, commitAndRefresh, commitAndWrite, remoteAndTurn, remoteAndRefresh }

    @Test(
        "N111 N112 N29 what the Realm's own observer writes silently is not told with what it was told of",
        arguments: Way.allCases)
    func byRealmObserver(_ way: Way) throws {
        let scene = try Scene()
        scene.observers = [scene.test.realm.observe { _, _ in scene.act() }]
        scene.watch()
        scene.deed = { try scene.addSilently("Max") }
        switch way {
        case .commitAndTurn, .commitAndRefresh, .commitAndWrite: try scene.add("Rex")
        case .remoteAndTurn, .remoteAndRefresh: try scene.addElsewhere("Rex")
        }
        switch way {
        case .commitAndTurn, .remoteAndTurn: scene.test.settle()
        case .commitAndRefresh, .remoteAndRefresh: scene.test.realm.refresh()
        case .commitAndWrite: try scene.test.realm.write {}
        }
        #expect(scene.log.take() == ["[] [0] []"])
        scene.test.settle()
        try scene.add("Bo")
        scene.test.settle()
        #expect(scene.log.take() == ["[] [2] []"])
        scene.test.waitForOnePin()
        #expect(scene.test.realm.pinnedVersions.count == 1)
        scene.observers = []
    }

    @Test("N29 N111 N112 all that is not silent has been told when a refresh returns, in order")
    func between() throws {
        let scene = try Scene()
        scene.observers = [scene.test.realm.observe { _, _ in scene.act() }]
        scene.watch()
        scene.deed = {
            try scene.addSilently("Max")
            try scene.add("Bo")
            try scene.addSilently("Cy")
            try scene.addSilently("Di")
            try scene.add("Ed")
        }
        try scene.addElsewhere("Rex")
        #expect(scene.test.realm.refresh())
        #expect(scene.log.take() == ["[] [0] []", "[] [2] []", "[] [5] []"])
        scene.test.settle()
        #expect(scene.log.take() == [])
        #expect(scene.test.realm.pinnedVersions.count == 1)
        scene.observers = []
    }

    @Test("N111 N71 values of an object's changes lead over what the Realm's own observer wrote silently")
    func values() throws {
        let scene = try Scene()
        let dog = try scene.test.dogs("Rex")[0]
        scene.observers = [scene.test.realm.observe { _, _ in scene.act() }]
        let log = Log(object: dog)
        scene.deed = {
            try scene.test.realm.write(withoutNotifying: log.tokens) { dog.age = 2 }
            try scene.test.realm.write { dog.age = 3 }
        }
        try scene.test.realm.write { dog.age = 1 }
        scene.test.settle()
        #expect(log.take() == ["age: nil → 1", "age: 2 → 3"])
        scene.observers = []
    }

    @Test(
        "N111 N102 N104 a round within a call does not deliver what was written silently before that call",
        arguments: [false, true])
    func nested(addsToNested: Bool) throws {
        let scene = try Scene()
        let (test, log) = (scene.test, scene.log)
        var names: [String] = []
        scene.observers = [
            test.realm.observe { _, _ in scene.act() },
            test.allDogs.observe { _ in
                // Inside of the write that is beginning: the observers after this one are called later.
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
                    try scene.addElsewhere("Bo")
                    try test.realm.write { log.lines.append("written") }
                }
            }
        ]
        test.settle()
        _ = log.take()
        scene.deed = { try scene.addSilently("Max") }
        names = addsToNested ? ["Cy", "Di"] : ["Cy"]
        begins = true
        try scene.addElsewhere("Rex")
        test.realm.refresh()
        #expect(log.take() == (addsToNested ? ["[] [0] []", "written"] : ["[] [0] []", "[] [3] []", "written"]))
        test.settle()
        #expect(log.take() == (addsToNested ? ["[] [3, 4] []"] : []))
        #expect(test.allDogs.map(\.name) == ["Rex", "Cy", "Max", "Bo"] + (addsToNested ? ["Di"] : []))
        #expect(test.realm.pinnedVersions.count == 1)
        log.end()
        scene.observers = []
    }

    @Test("N111 N132 what was sealed before a silent asynchronous write is told, and the write is not")
    func afterSealed() throws {
        let scene = try Scene()
        scene.watch()
        let realm = scene.test.realm
        realm.writeAsync { realm.add(Dog(name: "Rex")) }
        realm.beginAsyncWrite {
            realm.add(Dog(name: "Max"))
            #expect(throws: Never.self) { try realm.commitWrite(withoutNotifying: scene.log.tokens) }
        }
        scene.test.finishAsyncWrites()
        scene.test.settle()
        #expect(scene.log.take() == ["[] [0] []"])
        try scene.add("Bo")
        scene.test.settle()
        #expect(scene.log.take() == ["[] [2] []"])
    }
}
