import ConformanceModels
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

/// Whether `onDelete: deny` denies a write depends on the state at its end, and not on the order of its changes.
@Suite struct DenialOrderTests {
    /// One change of a write. Changes that assign different places or delete different rows have the same effect in any
    /// order.
    private enum Change {
        case delete(target: Int)
        case deleteKeeper
        case setEntry(key: String, target: Int)
        case removeEntry(key: String)
        case emptyEntry(key: String)
        case updateMap(targets: [String: Int])
        case assignList([Int])
        case updateList([Int])
        case clearList
        case filterList
        case removeListRange
        case assignSet([Int])
        case updateSet([Int])
        case intersectSet
        case assignLink(Int?)
        case updateLink(Int?)

        /// The places that the change assigns: the keys of the map, or the names of other properties.
        func places(_ keys: [String]) -> [String] {
            switch self {
            case .delete, .deleteKeeper: []
            case .setEntry(let key, _), .removeEntry(let key), .emptyEntry(let key): [key]
            case .updateMap: keys
            case .assignList, .updateList, .clearList, .filterList, .removeListRange: ["list"]
            case .assignSet, .updateSet, .intersectSet: ["set"]
            case .assignLink, .updateLink: ["link"]
            }
        }
    }

    private static let keys = ["a", "b", "c", "é", "e\u{301}"]

    /// The targets that each place holds before the write, and the changes of the write. Only the targets 0 to 3 are
    /// deleted, and only the targets 4 and 5 are assigned.
    private struct Program {
        var held: [String: [Int]] = [:]
        var changes: [Change] = []

        init(_ random: inout SeededRandom) {
            for key in DenialOrderTests.keys where Bool.random(using: &random) {
                held[key] = [.random(in: 0..<6, using: &random)]
            }
            for place in ["list", "set"] {
                held[place] = (0..<3).filter { _ in Bool.random(using: &random) }
                    .map { _ in .random(in: 0..<6, using: &random) }
            }
            if Bool.random(using: &random) { held["link"] = [.random(in: 0..<6, using: &random)] }
            for target in 0..<4 where Bool.random(using: &random) { changes.append(.delete(target: target)) }
            if Int.random(in: 0..<8, using: &random) == 0 { changes.append(.deleteKeeper) }
            func target() -> Int { .random(in: 4..<6, using: &random) }
            func isChosen() -> Bool { Int.random(in: 0..<3, using: &random) > 0 }
            if Int.random(in: 0..<5, using: &random) == 0 {
                changes.append(.updateMap(targets: ["a": target(), "d": target()]))
            } else {
                for key in DenialOrderTests.keys where isChosen() {
                    let all: [Change] = [
                        .setEntry(key: key, target: target()), .removeEntry(key: key), .emptyEntry(key: key),
                    ]
                    changes += all.shuffled(using: &random).prefix(1)
                }
            }
            let lists: [Change] = [
                .assignList([target()]), .updateList([target(), target()]), .updateList([]), .clearList, .filterList,
                .removeListRange,
            ]
            let sets: [Change] = [.assignSet([target()]), .updateSet([target()]), .updateSet([]), .intersectSet]
            let links: [Change] = [.assignLink(target()), .assignLink(nil), .updateLink(target()), .updateLink(nil)]
            for kind in [lists, sets, links] where isChosen() { changes += kind.shuffled(using: &random).prefix(1) }
        }

        /// Whether the write must be denied: the keeper is not deleted, and a place that no change assigns holds a
        /// deleted target.
        var isDenied: Bool {
            if changes.contains(where: { if case .deleteKeeper = $0 { true } else { false } }) { return false }
            let assigned = Set(changes.flatMap { $0.places(DenialOrderTests.keys) }.map { Array($0.utf8) })
            let deleted = Set(changes.compactMap { if case .delete(let target) = $0 { target } else { nil } })
            return held.contains { place, targets in
                !assigned.contains(Array(place.utf8)) && !deleted.isDisjoint(with: targets)
            }
        }
    }

    private struct Objects {
        let realm: Realm
        let keeper = Keeper(id: 1)
        let owner = Owner(id: 1)
        let kept = (0..<6).map { Kept(name: "\($0)") }
        let treasures = (0..<6).map { Treasure(id: $0) }

        init(_ realm: Realm, _ program: Program) throws {
            self.realm = realm
            try realm.write {
                realm.add([keeper, owner] as [Object])
                realm.add(kept)
                realm.add(treasures)
                for (place, targets) in program.held {
                    for target in targets {
                        switch place {
                        case "list": keeper.guardedList.append(kept[target])
                        case "set": keeper.guardedSet.insert(kept[target])
                        case "link": owner.guarded = treasures[target]
                        default: keeper.guardedMap[place] = kept[target]
                        }
                    }
                }
            }
        }

        /// The contents of the keeper and the owner, and the stored targets; `deleted` if the keeper is deleted.
        var state: [String] {
            if keeper.isInvalidated { return ["deleted"] }
            return [
                keeper.guardedMap.map { "\(Array($0.key.utf8)): \($0.value?.name ?? "-")" }.sorted().joined(
                    separator: ", "),
                keeper.guardedList.map(\.name).joined(), keeper.guardedSet.map(\.name).sorted().joined(),
                "\(owner.guarded?.id ?? -1)",
                realm.objects(Kept.self).map(\.name).joined(),
            ]
        }

        func perform(_ changes: [Change]) {
            let deleted = changes.compactMap { if case .delete(let target) = $0 { target } else { nil } }
            // If the first two changes are deletions, all deletions are made first, in one call for each type.
            if deleted.count > 1, case .delete = changes[0], case .delete = changes[1] {
                realm.delete(deleted.map { kept[$0] })
                realm.delete(deleted.map { treasures[$0] })
            }
            for change in changes { perform(change) }
        }

        private func perform(_ change: Change) {
            switch change {
            case .delete(let target):
                if !kept[target].isInvalidated { realm.delete(kept[target]) }
                if !treasures[target].isInvalidated { realm.delete(treasures[target]) }
            case .deleteKeeper: realm.delete([keeper, owner] as [ObjectBase])
            default: if !keeper.isInvalidated { assign(change) }
            }
        }

        private func assign(_ change: Change) {
            switch change {
            case .setEntry(let key, let target): keeper.guardedMap[key] = kept[target]
            case .removeEntry(let key): keeper.guardedMap.removeObject(for: key)
            case .emptyEntry(let key): keeper.guardedMap.updateValue(nil, forKey: key)
            case .updateMap(let targets):
                let other = Map<Kept?>()
                for (key, target) in targets { other[key] = kept[target] }
                keeper.guardedMap._assignElements(of: other, .modified)
            case .assignList(let targets): keeper.guardedList = list(targets)
            case .updateList(let targets):
                realm.create(Keeper.self, value: ["id": 1, "guardedList": targets.map { kept[$0] }], update: .modified)
            case .clearList: keeper.guardedList.removeAll()
            case .filterList: keeper.guardedList.removeAll { _ in true }
            case .removeListRange: keeper.guardedList.removeSubrange(keeper.guardedList.indices)
            case .assignSet(let targets): keeper.guardedSet = set(targets)
            case .updateSet(let targets):
                realm.create(Keeper.self, value: ["id": 1, "guardedSet": targets.map { kept[$0] }], update: .modified)
            case .intersectSet: keeper.guardedSet.formIntersection(set([4]))
            case .assignLink(let target): owner.guarded = target.map { treasures[$0] }
            case .updateLink(let target):
                realm.create(
                    Owner.self, value: ["id": 1, "guarded": target.map { treasures[$0] } as Any], update: .modified)
            case .delete, .deleteKeeper: break
            }
        }

        private func list(_ targets: [Int]) -> List<Kept> {
            let list = List<Kept>()
            list.append(objectsIn: targets.map { kept[$0] })
            return list
        }

        private func set(_ targets: [Int]) -> MutableSet<Kept> {
            let set = MutableSet<Kept>()
            set.insert(objectsIn: targets.map { kept[$0] })
            return set
        }
    }

    @Test("the order of the changes of a write does not affect whether it is denied O61 O59", arguments: 0..<4)
    func random(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var outcomes: [Bool: Int] = [:]
        for round in 0..<15 {
            let program = Program(&random)
            var states: Set<[String]> = []
            for _ in 0..<3 {
                let test = try TestRealm()
                let objects = try Objects(test.realm, program)
                let before = objects.state
                let changes = program.changes.shuffled(using: &random)
                var code: Realm.Error.Code?
                do {
                    try test.realm.write { objects.perform(changes) }
                } catch let error as Realm.Error {
                    code = error.code
                }
                #expect(code == (program.isDenied ? .deletionDenied : nil), "\(round): \(program.held) \(changes)")
                if code != nil { #expect(objects.state == before) }
                states.insert(objects.state)
            }
            #expect(states.count == 1, "\(round): \(program.held) \(program.changes) \(states)")
            outcomes[program.isDenied, default: 0] += 1
        }
        #expect(outcomes[true, default: 0] > 3 && outcomes[false, default: 0] > 3)
    }

    @Test("a list or set denies nothing after the program has removed its elements O61") func emptied() throws {
        let emptying: [@Sendable (Keeper, Kept) -> Void] = [
            { keeper, _ in while !keeper.guardedList.isEmpty { keeper.guardedList.removeLast() } },
            { keeper, _ in while !keeper.guardedList.isEmpty { keeper.guardedList.removeFirst() } },
            { keeper, _ in keeper.guardedList.remove(atOffsets: [0]) },
            { keeper, _ in keeper.guardedList.removeAll(keepingCapacity: true) },
            { keeper, other in keeper.guardedList.replaceSubrange(keeper.guardedList.indices, with: [other]) },
            { keeper, _ in for kept in keeper.guardedSet { keeper.guardedSet.remove(kept) } },
        ]
        for (number, empty) in emptying.enumerated() {
            let test = try TestRealm()
            let (keeper, a, b, c) = (Keeper(id: 1), Kept(name: "a"), Kept(name: "b"), Kept(name: "c"))
            let isSet = number == emptying.count - 1
            try test.realm.write {
                test.realm.add([keeper, a, b, c] as [Object])
                if isSet {
                    keeper.guardedSet.insert(objectsIn: [a, b])
                } else {
                    keeper.guardedList.append(objectsIn: [a, b])
                }
            }
            #expect(throws: Never.self, "\(number)") {
                try test.realm.write {
                    test.realm.delete(a)
                    empty(keeper, c)
                }
            }
            #expect(isSet ? keeper.guardedSet.isEmpty : !keeper.guardedList.contains(b), "\(number)")
        }
        // An insertion into a list that a deletion has emptied is not an assignment, so the write is denied.
        let test = try TestRealm()
        let (keeper, a, b) = (Keeper(id: 1), Kept(name: "a"), Kept(name: "b"))
        try test.realm.write {
            test.realm.add([keeper, a, b] as [Object])
            keeper.guardedList.append(a)
        }
        #expect(throws: Realm.Error.self) {
            try test.realm.write {
                test.realm.delete(a)
                keeper.guardedList.insert(contentsOf: [b], at: 0)
            }
        }
        #expect(keeper.guardedList.map(\.name) == ["a"])
    }

    @Test("a map denies a deletion if a key that the write has not assigned holds the target O61")
    func keys() throws {
        let test = try TestRealm()
        let (keeper, a, b, c) = (Keeper(id: 1), Kept(name: "a"), Kept(name: "b"), Kept(name: "c"))
        try test.realm.write {
            test.realm.add([keeper, a, b, c] as [Object])
            (keeper.guardedMap["a"], keeper.guardedMap["a2"], keeper.guardedMap["b"]) = (a, a, b)
        }
        let error = #expect(throws: Realm.Error.self) {
            try test.realm.write {
                test.realm.delete([a, b])
                keeper.guardedMap["a"] = c
                keeper.guardedMap["b"] = c
            }
        }
        #expect(error?.message.hasPrefix("the 'Kept' with the primary key 'a'") == true)
        let second = #expect(throws: Realm.Error.self) {
            try test.realm.write {
                test.realm.delete(a)
                test.realm.delete(b)
                keeper.guardedMap["a"] = c
                keeper.guardedMap["a2"] = nil
            }
        }
        #expect(second?.message.hasPrefix("the 'Kept' with the primary key 'b'") == true)
        try test.realm.write {
            test.realm.delete([a, b])
            test.realm.create(
                Keeper.self, value: ["id": 1, "guardedMap": ["a": nil, "b": c, "a2": nil] as [String: Kept?]],
                update: .modified)
        }
        #expect(keeper.guardedMap.count == 3 && keeper.guardedMap["b"]??.name == "c")
    }
}
