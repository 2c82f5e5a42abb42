import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet

/// `onDelete` defines what happens to an object if a target of its property is deleted. `deleteRule` defines what
/// happens to the targets if the object is deleted.
@Suite struct DeletionRuleTests {
    /// A property with a deletion rule, and a closure that adds a target to it.
    struct Link: Sendable, CustomStringConvertible {
        let description: String
        let set: @Sendable (Keeper, Kept) -> Void

        static let vital = [
            Link(description: "vitalList") { $0.vitalList.append($1) },
            Link(description: "vitalSet") { $0.vitalSet.insert($1) },
            Link(description: "vitalMap") { $0.vitalMap["a"] = $1 },
        ]
        static let guarded = [
            Link(description: "guardedList") { $0.guardedList.append($1) },
            Link(description: "guardedSet") { $0.guardedSet.insert($1) },
            Link(description: "guardedMap") { $0.guardedMap["a"] = $1 },
        ]
        static let owned = [
            Link(description: "owned") { $0.owned = $1 },
            Link(description: "ownedList") { $0.ownedList.append($1) },
            Link(description: "ownedSet") { $0.ownedSet.insert($1) },
            Link(description: "ownedMap") { $0.ownedMap["a"] = $1 },
        ]
        static let held = [
            Link(description: "held") { $0.held = $1 },
            Link(description: "heldList") { $0.heldList.append($1) },
            Link(description: "heldSet") { $0.heldSet.insert($1) },
            Link(description: "heldMap") { $0.heldMap["a"] = $1 },
        ]
    }

    private struct Fixture {
        let test: TestRealm
        let keeper: Keeper
        let kept: Kept

        init(_ link: Link) throws {
            test = try TestRealm()
            (keeper, kept) = (Keeper(id: 1), Kept(name: "a"))
            link.set(keeper, kept)
            let realm = test.realm
            try realm.write { [keeper] in realm.add(keeper) }
        }

        var realm: Realm { test.realm }

        /// Runs a write that must throw and change nothing. Returns the message of the error.
        func denied(_ body: () -> Void) -> String {
            let error = #expect(throws: Realm.Error.self) { try realm.write(body) }
            #expect(error?.code == .deletionDenied && !realm.isInWriteTransaction)
            #expect(!keeper.isInvalidated && !kept.isInvalidated && kept.name == "a" && keeper.id == 1)
            #expect(realm.objects(Keeper.self).count == 1 && realm.objects(Kept.self).count == 1)
            return error?.message ?? ""
        }
    }

    @Test(
        "'onDelete: cascade' on a collection deletes its owner when one of its elements is deleted O59 O6",
        arguments: Link.vital)
    func cascadeToOwner(_ link: Link) throws {
        let fixture = try Fixture(link)
        let other = Keeper(id: 2)
        try fixture.realm.write {
            fixture.realm.add(other)
            link.set(other, Kept(name: "b"))
        }
        try fixture.realm.write { fixture.realm.delete(fixture.kept) }
        #expect(fixture.keeper.isInvalidated && fixture.kept.isInvalidated && !other.isInvalidated)
        #expect(fixture.realm.objects(Kept.self).map(\.name) == ["b"])
        // Deletes the owner and its target in one call. When the call reaches the owner, the cascade has deleted it.
        let target = try #require(fixture.realm.objects(Kept.self).first)
        try fixture.realm.write { fixture.realm.delete([target, other] as [ObjectBase]) }
        #expect(fixture.realm.isEmpty && other.isInvalidated)
    }

    @Test("deleting several targets of a collection in one call deletes its owner O59 O6", arguments: Link.vital)
    func cascadeOfSeveral(_ link: Link) throws {
        let fixture = try Fixture(link)
        let second = Kept(name: "b")
        try fixture.realm.write {
            switch link.description {
            case "vitalSet": fixture.keeper.vitalSet.insert(second)
            case "vitalMap": fixture.keeper.vitalMap["b"] = second
            default: fixture.keeper.vitalList.append(second)
            }
        }
        try fixture.realm.write { fixture.realm.delete([fixture.kept, second]) }
        #expect(fixture.realm.isEmpty && fixture.keeper.isInvalidated)
    }

    @Test("'onDelete: deny' on a collection denies the deletion of its elements O59 O61 O6", arguments: Link.guarded)
    func denyTarget(_ link: Link) throws {
        let fixture = try Fixture(link)
        let message = fixture.denied { fixture.realm.delete(fixture.kept) }
        #expect(
            message.hasPrefix(
                "the 'Kept' with the primary key 'a' cannot be deleted while the 'Keeper' with the primary key 1 has it in "
                    + "'Keeper.\(link)', which has 'onDelete: deny'"), "\(message)")
        // The deletion is allowed if the same write deletes the owner, or removes the target from the collection.
        try fixture.realm.write {
            fixture.realm.delete(fixture.kept)
            fixture.realm.delete(fixture.keeper)
        }
        #expect(fixture.realm.isEmpty)
        let again = try Fixture(link)
        try again.realm.write {
            again.keeper.guardedList.removeAll()
            again.keeper.guardedSet.removeAll()
            again.keeper.guardedMap.removeAll()
            again.realm.delete(again.kept)
        }
        #expect(again.realm.objects(Keeper.self).count == 1 && again.realm.objects(Kept.self).isEmpty)
        let later = try Fixture(link)
        try later.realm.write {
            later.realm.delete(Array(later.realm.objects(Kept.self)))
            later.keeper.guardedList.removeAll()
            later.keeper.guardedSet.removeAll()
            later.keeper.guardedMap.removeAll()
        }
        #expect(later.realm.objects(Kept.self).isEmpty)
        let everything = try Fixture(link)
        try everything.realm.write { everything.realm.deleteAll() }
        #expect(everything.realm.isEmpty)
    }

    @Test("'onDelete: deny' on a link is checked against the state at the end of the write O59 O61 O6") func denyLink()
        throws
    {
        let test = try TestRealm()
        let (owner, treasure) = (Owner(id: 1), Treasure(id: 7, name: "gold"))
        owner.guarded = treasure
        try test.realm.write { test.realm.add(owner) }
        let error = #expect(throws: Realm.Error.self) { try test.realm.write { test.realm.delete(treasure) } }
        #expect(
            error?.message.hasPrefix(
                "the 'Treasure' with the primary key 7 cannot be deleted while the 'Owner' with the primary key 1 has it in "
                    + "'Owner.guarded'") == true, "\(error?.message ?? "")")
        #expect(owner.guarded == treasure && treasure.name == "gold")
        let other = Treasure(id: 8)
        try test.realm.write {
            test.realm.delete(treasure)
            owner.guarded = other
        }
        try test.realm.write {
            test.realm.delete(other)
            owner.guarded = nil
        }
        #expect(test.realm.objects(Treasure.self).isEmpty && !owner.isInvalidated)
    }

    @Test(
        "'deleteRule: cascade' deletes the targets, even if other objects link to them O60 O59 O6",
        arguments: Link.owned)
    func cascadeToTargets(_ link: Link) throws {
        let fixture = try Fixture(link)
        let other = Keeper(id: 2)
        try fixture.realm.write {
            fixture.realm.add(other)
            for link in Link.owned { link.set(other, fixture.kept) }
        }
        try fixture.realm.write { fixture.realm.delete(fixture.keeper) }
        #expect(fixture.keeper.isInvalidated && fixture.kept.isInvalidated && fixture.realm.objects(Kept.self).isEmpty)
        #expect(other.owned == nil && other.ownedList.isEmpty && other.ownedSet.isEmpty)
        #expect(other.ownedMap["a"] == .some(nil) && other.ownedMap.count == 1)
    }

    @Test("'deleteRule: deny' denies the deletion of an object that has targets O60 O61 O6", arguments: Link.held)
    func denyOwner(_ link: Link) throws {
        let fixture = try Fixture(link)
        let message = fixture.denied { fixture.realm.delete(fixture.keeper) }
        #expect(
            message.hasPrefix(
                "the 'Keeper' with the primary key 1 cannot be deleted while it has the 'Kept' with the primary key 'a' in "
                    + "'Keeper.\(link)', which has 'deleteRule: deny'"), "\(message)")
        try fixture.realm.write {
            fixture.realm.delete(fixture.keeper)
            fixture.realm.delete(fixture.kept)
        }
        #expect(fixture.realm.isEmpty)
        let again = try Fixture(link)
        try again.realm.write { again.realm.delete([again.kept, again.keeper] as [ObjectBase]) }
        #expect(again.realm.isEmpty)
        let emptied = try Fixture(link)
        try emptied.realm.write {
            emptied.keeper.held = nil
            emptied.keeper.heldList.removeAll()
            emptied.keeper.heldSet.removeAll()
            emptied.keeper.heldMap.removeAll()
            emptied.realm.delete(emptied.keeper)
        }
        #expect(emptied.realm.objects(Kept.self).map(\.name) == ["a"])
    }

    @Test("'deleteRule: cascade' terminates for cycles and for chains of any length O60 O59 O6") func circle() throws {
        let test = try TestRealm()
        let keepers = (0..<3_000).map { Keeper(id: $0) }
        try test.realm.write {
            test.realm.add(keepers)
            for (index, keeper) in keepers.enumerated() { keeper.next = keepers[(index + 1) % keepers.count] }
        }
        try test.realm.write { test.realm.delete(keepers[1_000]) }
        #expect(test.realm.isEmpty && keepers.allSatisfy(\.isInvalidated))
    }

    @Test("'deny' rules have no effect if a cascade also deletes the object that the rule protects O6") func both()
        throws
    {
        let test = try TestRealm()
        let (keeper, kept) = (Keeper(id: 1), Kept(name: "a"))
        keeper.ownedList.append(kept)
        keeper.heldSet.insert(kept)
        keeper.guardedMap["k"] = kept
        try test.realm.write { test.realm.add(keeper) }
        try test.realm.write { test.realm.delete(keeper) }
        #expect(test.realm.isEmpty)
    }

    @Test("a denied deletion rolls back only its own write in a group O61 O6 N132") func group() throws {
        let test = try TestRealm()
        let (owner, treasure) = (Owner(id: 1), Treasure(id: 7))
        owner.guarded = treasure
        try test.realm.write { test.realm.add(owner) }
        var codes: [Realm.Error.Code?] = []
        let record: ((any Error)?) -> Void = { codes.append(($0 as? Realm.Error)?.code) }
        test.realm.writeAsync({ test.realm.add(Owner(id: 2)) }, onComplete: record)
        test.realm.writeAsync({ test.realm.delete(treasure) }, onComplete: record)
        test.realm.writeAsync({ test.realm.add(Owner(id: 3)) }, onComplete: record)
        while test.realm.isPerformingAsynchronousWriteOperations, test.scheduler.waitForWork() { test.scheduler.run() }
        #expect(codes.count == 3 && codes.compactMap { $0 } == [.deletionDenied])
        #expect(test.realm.objects(Owner.self).map(\.id) == [1, 2, 3] && owner.guarded == treasure)
    }
}
