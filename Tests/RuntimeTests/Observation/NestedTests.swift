import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("writes inside callbacks and silent writes")
struct NestedTests {
    private func add(_ name: String, _ test: TestRealm) throws {
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: name)) } }
    }

    @Test("observers are called in the order of their registration N101")
    func order() throws {
        let test = try TestRealm()
        let log = Log()
        for number in 0..<5 { log.tokens.append(test.allDogs.observe { _ in log.lines.append("\(number)") }) }
        for _ in 0..<3 {
            test.deliverAll()
            #expect(log.take() == ["0", "1", "2", "3", "4"])
            try add("X", test)
        }
    }

    @Test("beginning a write in a callback starts a nested delivery if the write advances the Realm N102")
    func nested() throws {
        let test = try TestRealm()
        let log = Log()
        var writes = false
        let record = { (name: String) in
            { (change: RealmCollectionChange<Results<Dog>>) in log.lines.append("\(name) \(text(change))") }
        }
        log.tokens = [
            test.allDogs.observe(record("first")),
            test.allDogs.observe { change in
                record("writer")(change)
                guard writes else { return }
                writes = false
                try? self.add("Max", test)
                try? test.realm.write {}
            },
            test.allDogs.observe(record("last")),
        ]
        test.realm.refresh()
        _ = log.take()
        try add("Rex", test)
        writes = true
        test.realm.refresh()
        #expect(
            log.take() == [
                "first [] [0] []", "writer [] [0] []", "first [] [1] []", "writer [] [1] []", "last [] [0, 1] []",
            ])
    }

    @Test("beginning a write in a callback first calls the remaining observers N103")
    func notAdvanced() throws {
        let test = try TestRealm()
        let log = Log()
        var writes = false
        log.tokens = [
            test.allDogs.observe { _ in
                guard writes else { return }
                writes = false
                try? test.realm.write { test.realm.add(Dog(name: "Max")) }
            },
            test.allDogs.observe { change in
                guard case .update(let dogs, _, _, _) = change else { return }
                log.lines.append("\(text(change)) \(dogs.count)")
            },
        ]
        test.realm.refresh()
        writes = true
        try add("Rex", test)
        test.realm.refresh()
        #expect(log.take() == ["[] [0] [] 1"])
        test.deliverAll()
        #expect(log.take() == ["[] [1] [] 2"])
    }

    @Test(
        "positions match the collection even if an earlier observer has deleted elements N103 N20 N22",
        arguments: [true, false])
    func positionsFit(inInitial: Bool) throws {
        let test = try TestRealm()
        try test.dogs("1", "2", "3", "4")
        let log = Log()
        var deletes = inInitial
        log.tokens = [
            test.allDogs.observe { change in
                guard deletes else { return }
                deletes = false
                try? test.realm.write {
                    for dog in Array(test.allDogs.dropFirst(2).prefix(2)) { test.realm.delete(dog) }
                }
            },
            test.allDogs.observe { change in
                switch change {
                case .initial(let dogs): log.lines.append("\(dogs.map(\.name))")
                case .update(let dogs, let deletions, let insertions, _):
                    log.lines.append("\(deletions) \(insertions.map { dogs[$0].name })")
                case .error(let error): log.lines.append("\(error)")
                }
            },
        ]
        test.deliverAll()
        if inInitial {
            #expect(log.take() == [#"["1", "2", "3", "4"]"#, "[2, 3] []"])
            return
        }
        _ = log.take()
        deletes = true
        try add("5", test)
        test.deliverAll()
        #expect(log.take() == [#"[] ["5"]"#, "[2, 3] []"])
    }

    @Test("a write in a callback of a Realm observer first calls the other observers N103 N27")
    func inRealmObserver() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        var writes = false
        let token = test.realm.observe { _, realm in
            guard writes else { return }
            writes = false
            try? realm.write {
                log.lines.append("written")
                realm.delete(test.allDogs)
            }
        }
        test.deliverAll()
        _ = log.take()
        try add("Rex", test)
        writes = true
        test.deliverAll()
        #expect(log.take() == ["[] [0] []", "written", "[0] [] []"])
        withExtendedLifetime(token) {}
    }

    @Test("if beginWrite calls a callback, the changes of the callback belong to the write that begins N104")
    func belongsToWrite() throws {
        let test = try TestRealm()
        let log = Log(test.allDogs)
        var adds = false
        let token = test.allDogs.observe { change in
            guard adds else { return }
            adds = false
            test.realm.add(Dog(name: "Max"))
        }
        let after = Log(test.allDogs)
        defer { token.invalidate() }
        test.realm.refresh()
        _ = (log.take(), after.take())
        try add("Rex", test)
        adds = true
        try test.realm.beginWrite()
        #expect(log.take() == ["[] [0] []"])
        // `after` is not called yet: the callback has changed the collection, which no longer matches the pending
        // change set.
        #expect(after.take() == [])
        #expect(test.allDogs.count == 2)
        test.realm.cancelWrite()
        #expect(test.allDogs.count == 1)
        test.deliverAll()
        #expect(log.take() == [])
        #expect(after.take() == ["[] [0] []"])
    }

    @Test("if a callback that beginWrite calls changes something, later observers are called after the commit N104")
    func calledAfterCommit() throws {
        let test = try TestRealm()
        var deletes = false
        let token = test.allDogs.observe { change in
            guard deletes else { return }
            deletes = false
            test.realm.delete(test.allDogs)
        }
        let after = Log(test.allDogs)
        defer { token.invalidate() }
        try test.dogs("1", "2")
        test.deliverAll()
        _ = after.take()
        try add("Rex", test)
        deletes = true
        try test.realm.write { test.realm.add(Dog(name: "Max")) }
        test.deliverAll()
        #expect(after.take() == ["[0, 1] [0] []"])
    }

    @Test("writes in a callback are reported later, like other writes N108")
    func reportedLater() throws {
        let test = try TestRealm()
        let log = Log()
        let dog = try test.dogs("Rex")[0]
        log.tokens = [
            dog.observe { change in
                log.lines.append(text(change))
                if dog.age ?? 0 < 3 { try? test.realm.write { dog.age = (dog.age ?? 0) + 1 } }
            }
        ]
        try test.realm.write { dog.age = 1 }
        test.deliverAll()
        #expect(log.take() == ["age: nil → 1", "age: 1 → 2", "age: 2 → 3"])
    }

    @Test("an object change contains the values of the delivered version N108")
    func valuesOfDeliveredVersion() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        let log = Log()
        log.tokens = [
            test.allDogs.observe { _ in if dog.age == 1 { try? test.realm.write { dog.age = 2 } } },
            dog.observe { log.lines.append(text($0)) },
        ]
        test.deliverAll()
        try test.onNewThread { realm in try realm.write { try realm.dog("Rex").age = 1 } }
        test.deliverAll()
        #expect(log.take() == ["age: nil → 1", "age: 1 → 2"])
    }

    // MARK: Silent writes

    @Test("a silent write silences exactly the listed tokens, and only for its own transaction N111")
    func silent() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        let logs = [
            Log(test.allDogs), Log(test.allDogs), Log(object: dog), Log(dog.siblings),
            Log(test.allDogs.where { $0.age > 3 }),
        ]
        test.deliverAll()
        _ = logs.map { $0.take() }
        let silent = [logs[0], logs[2], logs[3], logs[4]].flatMap { $0.tokens }
        try test.realm.write(withoutNotifying: silent) {
            dog.age = 5
            dog.siblings.append(Dog(name: "Max"))
        }
        test.deliverAll()
        #expect(logs.map { $0.take() } == [[], ["[] [1] [0]"], [], [], []])
        try test.realm.write {
            dog.age = 6
            dog.siblings.removeAll()
            test.realm.delete(try test.realm.dog("Max"))
        }
        test.deliverAll()
        #expect(
            logs.map { $0.take() } == [
                ["[1] [] [0]"], ["[1] [] [0]"], ["age: 5 → 6, siblings: nil → nil"], ["[0] [] []"], ["[] [] [0]"],
            ])
    }

    @Test("an observer is never notified of a silent deletion N111")
    func silentDeletion() throws {
        let test = try TestRealm()
        let dog = try test.dogs("Rex")[0]
        let log = Log(object: dog)
        try test.realm.write(withoutNotifying: log.tokens) { test.realm.delete(dog) }
        test.deliverAll()
        #expect(log.take() == [])
    }

    @Test("if a delivery includes a remote commit and a silent write, only the remote commit is reported N112")
    func joined() throws {
        let test = try TestRealm()
        let dogs = test.allDogs.sorted(byKeyPath: "name")
        let log = Log(dogs)
        test.deliverAll()
        _ = log.take()
        try add("B", test)
        try test.realm.write(withoutNotifying: log.tokens) { test.realm.add(Dog(name: "A")) }
        #expect(log.take() == ["[] [0] []"])
        try add("C", test)
        test.realm.refresh()
        #expect(log.take() == ["[] [2] []"])
        #expect(dogs.map(\.name) == ["A", "B", "C"])
    }

    @Test("a pending change is still delivered if a callback writes silently N112")
    func silentInside() throws {
        let test = try TestRealm()
        let later = Log()
        var writes = false
        let first = test.allDogs.observe { _ in
            guard writes else { return }
            writes = false
            try? test.realm.write(withoutNotifying: later.tokens) { test.realm.add(Dog(name: "Max")) }
        }
        later.tokens = [test.allDogs.observe { later.lines.append(text($0)) }]
        test.deliverAll()
        _ = later.take()
        writes = true
        try add("Rex", test)
        test.deliverAll()
        #expect(later.take() == ["[] [0] []"])
        try add("Bo", test)
        test.deliverAll()
        #expect(later.take() == ["[] [2] []"])
        withExtendedLifetime(first) {}
    }

    @Test("a silent write in a callback is not reported to observers that have other pending changes N111")
    func silentAfterOthers() throws {
        let test = try TestRealm()
        let later = Log()
        var writes = false
        let tokens = [
            test.allDogs.observe { _ in
                guard writes else { return }
                writes = false
                try? test.realm.write { test.realm.add(Dog(name: "Max")) }
                for name in ["Bo", "Cy"] {
                    try? test.realm.write(withoutNotifying: later.tokens) { test.realm.add(Dog(name: name)) }
                }
            }
        ]
        later.tokens = [test.allDogs.observe { later.lines.append(text($0)) }]
        test.deliverAll()
        _ = later.take()
        writes = true
        try add("Rex", test)
        test.deliverAll()
        #expect(later.take() == ["[] [0] []", "[] [1] []"])
        try add("Di", test)
        test.deliverAll()
        #expect(later.take() == ["[] [4] []"])
        test.waitForSinglePin()
        #expect(test.realm.pinnedVersions.count == 1)
        withExtendedLifetime(tokens) {}
    }

    @Test("withoutNotifying of an empty or failed write does not apply to later writes N113")
    func withoutEffect() throws {
        struct Stop: Error {}
        let test = try TestRealm()
        let logs = [Log(test.allDogs), Log(test.realm)]
        test.deliverAll()
        _ = logs.map { $0.take() }
        let tokens = logs.flatMap { $0.tokens }
        try test.realm.write(withoutNotifying: tokens) {}
        #expect(throws: Stop.self) { try test.realm.write(withoutNotifying: tokens) { throw Stop() } }
        try test.dogs("Rex")
        test.deliverAll()
        #expect(logs.map { $0.take() } == [["[] [0] []"], ["didChange"]])
    }

    @Test("tokens of Realm observers can be silenced N115")
    func realmToken() throws {
        let test = try TestRealm()
        let logs = [Log(test.realm), Log(test.realm)]
        try test.realm.write(withoutNotifying: logs[0].tokens) {}
        #expect(logs.map { $0.take() } == [[], ["didChange"]])
    }

    @Test("a silenced observer still gets its pending initial call N117")
    func initial() throws {
        let test = try TestRealm()
        let log = Log()
        try test.realm.beginWrite()
        log.tokens = [test.allDogs.observe { log.lines.append(text($0)) }]
        test.realm.add(Dog(name: "Rex"))
        try test.realm.commitWrite(withoutNotifying: log.tokens)
        test.deliverAll()
        #expect(log.take() == ["initial"])
    }
}
