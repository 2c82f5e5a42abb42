import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet

/// `onDelete`, which is about the object that has the property, and `deleteRule`, which is about its targets.
@Suite struct DeletionRuleTests {
    /// A kind of link, and how a keeper gets a target by it.
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

    private struct Bench {
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

        /// The message of the error that a write throws, which leaves everything as it was.
        func denied(_ body: () -> Void) -> String {
            let error = #expect(throws: Realm.Error.self) { try realm.write(body) }
            #expect(error?.code == .deletionDenied && !realm.isInWriteTransaction)
            #expect(!keeper.isInvalidated && !kept.isInvalidated && kept.name == "a" && keeper.id == 1)
            #expect(realm.objects(Keeper.self).count == 1 && realm.objects(Kept.self).count == 1)
            return error?.message ?? ""
        }
    }

    @Test(
        "O59 O6 'onDelete: cascade' on a collection deletes its owner with any of its elements", arguments: Link.vital)
    func cascadeToOwner(_ link: Link) throws {
        let bench = try Bench(link)
        let other = Keeper(id: 2)
        try bench.realm.write {
            bench.realm.add(other)
            link.set(other, Kept(name: "b"))
        }
        try bench.realm.write { bench.realm.delete(bench.kept) }
        #expect(bench.keeper.isInvalidated && bench.kept.isInvalidated && !other.isInvalidated)
        #expect(bench.realm.objects(Kept.self).map(\.name) == ["b"])
        // All at once, in an order in which the owner goes by cascade first.
        try bench.realm.write { bench.realm.delete(Array(bench.realm.objects(Kept.self)) + [] as [ObjectBase]) }
        #expect(bench.realm.isEmpty)
    }

    @Test("O60 O6 several targets of a collection are deleted at once, and its owner with them", arguments: Link.vital)
    func cascadeOfSeveral(_ link: Link) throws {
        let bench = try Bench(link)
        let second = Kept(name: "b")
        try bench.realm.write { bench.keeper.vitalList.append(second) }
        try bench.realm.write { bench.realm.delete([bench.kept, second]) }
        #expect(bench.realm.isEmpty && bench.keeper.isInvalidated)
    }

    @Test("O59 O61 O6 'onDelete: deny' on a collection denies the deletion of its elements", arguments: Link.guarded)
    func denyTarget(_ link: Link) throws {
        let bench = try Bench(link)
        let message = bench.denied { bench.realm.delete(bench.kept) }
        #expect(
            message.hasPrefix(
                "the 'Kept' with the primary key 'a' cannot be deleted while the 'Keeper' with the primary key 1 has it in "
                    + "'Keeper.\(link)', which has 'onDelete: deny'"), "\(message)")
        // The owner may go in the same write, before or after, or let go of it before.
        try bench.realm.write {
            bench.realm.delete(bench.kept)
            bench.realm.delete(bench.keeper)
        }
        #expect(bench.realm.isEmpty)
        let again = try Bench(link)
        try again.realm.write {
            again.keeper.guardedList.removeAll()
            again.keeper.guardedSet.removeAll()
            again.keeper.guardedMap.removeAll()
            again.realm.delete(again.kept)
        }
        #expect(again.realm.objects(Keeper.self).count == 1 && again.realm.objects(Kept.self).isEmpty)
        let later = try Bench(link)
        try later.realm.write {
            later.realm.delete(Array(later.realm.objects(Kept.self)))
            later.keeper.guardedList.removeAll()
            later.keeper.guardedSet.removeAll()
            later.keeper.guardedMap.removeAll()
        }
        #expect(later.realm.objects(Kept.self).isEmpty)
        let everything = try Bench(link)
        try everything.realm.write { everything.realm.deleteAll() }
        #expect(everything.realm.isEmpty)
    }

    @Test("O59 O61 O6 'onDelete: deny' on a link is judged on what the write leaves") func denyLink() throws {
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

    @Test("O60 O59 O6 'deleteRule: cascade' deletes the targets, however many objects hold them", arguments: Link.owned)
    func cascadeToTargets(_ link: Link) throws {
        let bench = try Bench(link)
        let other = Keeper(id: 2)
        try bench.realm.write {
            bench.realm.add(other)
            for link in Link.owned { link.set(other, bench.kept) }
        }
        try bench.realm.write { bench.realm.delete(bench.keeper) }
        #expect(bench.keeper.isInvalidated && bench.kept.isInvalidated && bench.realm.objects(Kept.self).isEmpty)
        #expect(other.owned == nil && other.ownedList.isEmpty && other.ownedSet.isEmpty)
        #expect(other.ownedMap["a"] == .some(nil) && other.ownedMap.count == 1)
    }

    @Test("O60 O61 O6 'deleteRule: deny' denies the deletion of an object that has targets", arguments: Link.held)
    func denyOwner(_ link: Link) throws {
        let bench = try Bench(link)
        let message = bench.denied { bench.realm.delete(bench.keeper) }
        #expect(
            message.hasPrefix(
                "the 'Keeper' with the primary key 1 cannot be deleted while it has the 'Kept' with the primary key 'a' in "
                    + "'Keeper.\(link)', which has 'deleteRule: deny'"), "\(message)")
        try bench.realm.write {
            bench.realm.delete(bench.keeper)
            bench.realm.delete(bench.kept)
        }
        #expect(bench.realm.isEmpty)
        let again = try Bench(link)
        try again.realm.write { again.realm.delete([again.kept, again.keeper] as [ObjectBase]) }
        #expect(again.realm.isEmpty)
        let emptied = try Bench(link)
        try emptied.realm.write {
            emptied.keeper.held = nil
            emptied.keeper.heldList.removeAll()
            emptied.keeper.heldSet.removeAll()
            emptied.keeper.heldMap.removeAll()
            emptied.realm.delete(emptied.keeper)
        }
        #expect(emptied.realm.objects(Kept.self).map(\.name) == ["a"])
    }

    @Test("O60 O59 O6 circles of 'deleteRule: cascade' end, and chains of any length") func circle() throws {
        let test = try TestRealm()
        let keepers = (0..<3_000).map { Keeper(id: $0) }
        try test.realm.write {
            test.realm.add(keepers)
            for (index, keeper) in keepers.enumerated() { keeper.next = keepers[(index + 1) % keepers.count] }
        }
        try test.realm.write { test.realm.delete(keepers[1_000]) }
        #expect(test.realm.isEmpty && keepers.allSatisfy(\.isInvalidated))
    }

    @Test("O6 both words on one write: what one takes along may lift what the other denies") func both() throws {
        let test = try TestRealm()
        let (keeper, kept) = (Keeper(id: 1), Kept(name: "a"))
        keeper.ownedList.append(kept)
        keeper.heldSet.insert(kept)
        keeper.guardedMap["k"] = kept
        try test.realm.write { test.realm.add(keeper) }
        try test.realm.write { test.realm.delete(keeper) }
        #expect(test.realm.isEmpty)
    }

    @Test("O61 O6 N132 a denied deletion takes back its own write of a group alone") func group() throws {
        let test = try TestRealm()
        let (owner, treasure) = (Owner(id: 1), Treasure(id: 7))
        owner.guarded = treasure
        try test.realm.write { test.realm.add(owner) }
        var codes: [Realm.Error.Code?] = []
        let note: ((any Error)?) -> Void = { codes.append(($0 as? Realm.Error)?.code) }
        test.realm.writeAsync({ test.realm.add(Owner(id: 2)) }, onComplete: note)
        test.realm.writeAsync({ test.realm.delete(treasure) }, onComplete: note)
        test.realm.writeAsync({ test.realm.add(Owner(id: 3)) }, onComplete: note)
        while test.realm.isPerformingAsynchronousWriteOperations, test.scheduler.waitForTurn() { test.scheduler.turn() }
        #expect(codes.count == 3 && codes.compactMap { $0 } == [.deletionDenied])
        #expect(test.realm.objects(Owner.self).map(\.id) == [1, 2, 3] && owner.guarded == treasure)
    }
}
