import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet

/// A deletion, and the further deletions that deletion rules cause, are reported to every observer as one change.
@Suite struct DeletionRuleObservationTests {
    /// The keepers 1 and 2, and the `Kept` objects 'a' to 'd'. The deletion of 'a' deletes keeper 1, and the deletion of
    /// keeper 1 deletes 'b'. Keeper 2 owns 'b' and 'c', and denies the deletion of 'd'.
    private final class Fixture {
        let test: TestRealm
        let keepers = [Keeper(id: 1), Keeper(id: 2)]
        let kept = ["a", "b", "c", "d"].map { Kept(name: $0) }
        private(set) var logs: [String: Log] = [:]
        private(set) var recorders: [String: KeyValueRecorder] = [:]

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
            test.deliverAll()
            realm.refresh()
            _ = take()
        }

        /// Returns the calls since the last `take()`, by the name of the observer. Omits observers without calls.
        func take() -> [String: [String]] {
            test.deliverAll()
            return logs.mapValues { $0.take() }.filter { !$0.value.isEmpty }
        }

        /// Returns the recorded changes since the last call, by the name of the key-value observer.
        func takeRecorded() -> [String: [String]] {
            recorders.mapValues { $0.take() }.filter { !$0.value.isEmpty }
        }
    }

    @Test("key-value observers get the inverse changes when a denied write is rolled back K27 O61")
    func deniedLink() throws {
        let fixture = try Fixture()
        let (realm, keeper, kept) = (fixture.test.realm, fixture.keepers[0], fixture.kept)
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

    @Test("each observer gets a deletion and its two cascades as one change O6 N47 K12", arguments: [true, false])
    func cascades(isLocal: Bool) throws {
        let fixture = try Fixture()
        if isLocal {
            try fixture.test.realm.write { fixture.test.realm.delete(fixture.kept[0]) }
        } else {
            try fixture.test.onNewThread { realm in
                guard let first = realm.object(ofType: Kept.self, forPrimaryKey: "a") else { return }
                try realm.write { realm.delete(first) }
            }
            fixture.test.realm.refresh()
        }
        #expect(
            fixture.take() == [
                "keepers": ["[0] [] [1]"], "kept": ["[0, 1] [] []"], "list": ["[0] [] []"],
                "owners of c": ["[] [] [0]"], "keeper 1": ["deleted"],
                "a": ["deleted"], "b": ["deleted"], "realm": ["didChange"],
            ])
        let invalidated = ["isInvalidated: false -> true"]
        #expect(
            fixture.takeRecorded() == [
                "keeper 1": invalidated, "a": invalidated, "b": invalidated, "count": ["ownedList.@count: 2 -> 1"],
            ])
    }

    @Test("a denied write calls no observers, and the next write is reported completely O6 N47 K27")
    func denied() throws {
        let fixture = try Fixture()
        let realm = fixture.test.realm
        let error = #expect(throws: Realm.Error.self) {
            try realm.write {
                realm.delete(fixture.kept[0])
                realm.delete(fixture.kept[3])
            }
        }
        #expect(error?.code == .deletionDenied)
        #expect(fixture.take() == [:])
        // Key-value observers are called during the write, and again when the write is rolled back.
        let restored = ["isInvalidated: false -> true", "isInvalidated: true -> false"]
        #expect(
            fixture.takeRecorded() == [
                "keeper 1": restored, "a": restored, "b": restored,
                "count": ["ownedList.@count: 2 -> 1", "ownedList.@count: 1 -> 2"],
            ])
        #expect(realm.objects(Keeper.self).count == 2 && realm.objects(Kept.self).map(\.name) == ["a", "b", "c", "d"])
        #expect(
            fixture.keepers[1].ownedList.map(\.name) == ["b", "c"] && fixture.kept.allSatisfy { !$0.isInvalidated })
        try realm.write {
            fixture.keepers[1].guardedSet.removeAll()
            realm.delete(fixture.kept[3])
            fixture.keepers[1].ownedList.append(fixture.kept[0])
        }
        #expect(
            fixture.take() == [
                "keepers": ["[] [] [1]"], "kept": ["[3] [] []"], "list": ["[] [2] []"],
                "owners of c": ["[] [] [0]"], "realm": ["didChange"],
            ])
        #expect(fixture.takeRecorded() == ["count": ["ownedList.@count: 2 -> 3"]])
        try realm.write { realm.delete(fixture.kept[0]) }
        #expect(
            fixture.take() == [
                "keepers": ["[0] [] [1]"], "kept": ["[0, 1] [] []"], "list": ["[0, 2] [] []"],
                "owners of c": ["[] [] [0]"], "keeper 1": ["deleted"], "a": ["deleted"], "b": ["deleted"],
                "realm": ["didChange"],
            ])
    }
}
