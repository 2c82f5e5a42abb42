import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet

/// Deletions that follow rules are one transaction for every observer.
@Suite struct DeletionRuleObservationTests {
    /// Keeper 1 is deleted with 'a', and 'b' with keeper 1; keeper 2 keeps 'c', and 'd' from being deleted.
    private final class Bench {
        let test: TestRealm
        let keepers = [Keeper(id: 1), Keeper(id: 2)]
        let kept = ["a", "b", "c", "d"].map { Kept(name: $0) }
        private(set) var logs: [String: Log] = [:]
        private(set) var recorders: [String: ChangeRecorder] = [:]

        init() throws {
            test = try TestRealm()
            let realm = test.realm
            try realm.write {
                realm.add(kept)
                realm.add(keepers)
                keepers[0].vitalList.append(kept[0])
                keepers[0].ownedList.append(kept[1])
                keepers[1].ownedList.append(objectsIn: [kept[1], kept[2]])
                keepers[1].guardedSet.insert(kept[3])
            }
            logs = [
                "keepers": Log(realm.objects(Keeper.self)), "kept": Log(realm.objects(Kept.self)),
                "list": Log(keepers[1].ownedList), "owners of c": Log(kept[2].owners),
                "keeper 1": Log(object: keepers[0]), "a": Log(object: kept[0]), "b": Log(object: kept[1]),
                "c": Log(object: kept[2]), "realm": Log(realm),
            ]
            recorders = [
                "keeper 1": keepers[0].recorder("isInvalidated"), "a": kept[0].recorder("isInvalidated"),
                "b": kept[1].recorder("isInvalidated"), "count": keepers[1].recorder("ownedList.@count"),
                "c": kept[2].recorder("isInvalidated"),
            ]
            test.settle()
            realm.refresh()
            _ = take()
        }

        /// Calls by observer, of those that were called.
        func take() -> [String: [String]] {
            test.settle()
            return logs.mapValues { $0.take() }.filter { !$0.value.isEmpty }
        }

        func takeRecorded() -> [String: [String]] {
            recorders.mapValues { $0.take() }.filter { !$0.value.isEmpty }
        }
    }

    @Test("K27 O61 the rollback of a denied write notifies of the values that the write had left")
    func deniedLink() throws {
        let bench = try Bench()
        let (realm, keeper, kept) = (bench.test.realm, bench.keepers[0], bench.kept)
        try realm.write {
            keeper.owned = kept[2]
            keeper.held = kept[1]
        }
        var calls: [String] = []
        let token = keeper.observe(\.owned, options: .both) { _, change in
            let names = [change.oldValue, change.newValue].map { $0.flatMap { $0 }?.name ?? "nil" }
            calls.append(names.joined(separator: " to "))
        }
        #expect(throws: Realm.Error.self) {
            try realm.write {
                realm.create(Keeper.self, value: ["id": 3])
                realm.add(Kept(name: "new"))
                keeper.owned = nil
                realm.delete(kept[1])
                realm.delete(kept[3])
            }
        }
        #expect(calls == ["c to nil", "nil to c"])
        token.invalidate()
    }

    @Test("O6 N47 K12 both cascades of a deletion are one change for each observer", arguments: [true, false])
    func cascades(isLocal: Bool) throws {
        let bench = try Bench()
        if isLocal {
            try bench.test.realm.write { bench.test.realm.delete(bench.kept[0]) }
        } else {
            try bench.test.elsewhere { realm in
                guard let first = realm.object(ofType: Kept.self, forPrimaryKey: "a") else { return }
                try realm.write { realm.delete(first) }
            }
            bench.test.realm.refresh()
        }
        #expect(
            bench.take() == [
                "keepers": ["[0] [] [1]"], "kept": ["[0, 1] [] []"], "list": ["[0] [] []"],
                "owners of c": ["[] [] [0]"], "keeper 1": ["deleted"],
                "a": ["deleted"], "b": ["deleted"], "realm": ["didChange"],
            ])
        let ended = ["isInvalidated: false -> true"]
        #expect(
            bench.takeRecorded() == ["keeper 1": ended, "a": ended, "b": ended, "count": ["ownedList.@count: 2 -> 1"]])
    }

    @Test("O6 N47 K27 a write that a rule denies is nothing for observers, and what follows it is told in full")
    func denied() throws {
        let bench = try Bench()
        let realm = bench.test.realm
        let error = #expect(throws: Realm.Error.self) {
            try realm.write {
                realm.delete(bench.kept[0])
                realm.delete(bench.kept[3])
            }
        }
        #expect(error?.code == .deletionDenied)
        #expect(bench.take() == [:])
        // Key-value observers were called in the write, and for what became of it.
        let ended = ["isInvalidated: false -> true", "isInvalidated: true -> false"]
        #expect(
            bench.takeRecorded() == [
                "keeper 1": ended, "a": ended, "b": ended,
                "count": ["ownedList.@count: 2 -> 1", "ownedList.@count: 1 -> 2"],
            ])
        #expect(realm.objects(Keeper.self).count == 2 && realm.objects(Kept.self).map(\.name) == ["a", "b", "c", "d"])
        #expect(bench.keepers[1].ownedList.map(\.name) == ["b", "c"] && bench.kept.allSatisfy { !$0.isInvalidated })
        try realm.write {
            bench.keepers[1].guardedSet.removeAll()
            realm.delete(bench.kept[3])
            bench.keepers[1].ownedList.append(bench.kept[0])
        }
        #expect(
            bench.take() == [
                "keepers": ["[] [] [1]"], "kept": ["[3] [] []"], "list": ["[] [2] []"],
                "owners of c": ["[] [] [0]"], "realm": ["didChange"],
            ])
        #expect(bench.takeRecorded() == ["count": ["ownedList.@count: 2 -> 3"]])
        try realm.write { realm.delete(bench.kept[0]) }
        #expect(
            bench.take() == [
                "keepers": ["[0] [] [1]"], "kept": ["[0, 1] [] []"], "list": ["[0, 2] [] []"],
                "owners of c": ["[] [] [0]"], "keeper 1": ["deleted"], "a": ["deleted"], "b": ["deleted"],
                "realm": ["didChange"],
            ])
    }
}
