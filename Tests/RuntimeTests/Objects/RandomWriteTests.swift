import ConformanceModels
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

/// Random writes of types with unique values and deletion rules, compared with a model.
@Suite struct RandomWriteTests {
    private struct Rollback: Error {}

    /// Runs a write, and returns whether the write was committed. If `body` returns an error code, the write must throw
    /// an error with this code.
    ///
    /// - Parameters:
    ///   - possibleError: the code of the error that the write may throw. If the check fails, its message contains this code.
    ///   - throwsAfterBody: whether the block of the write throws `Rollback` after `body`.
    private func write(
        _ realm: Realm, possibleError: Realm.Error.Code?, throwsAfterBody: Bool, _ body: () -> Realm.Error.Code?
    ) throws -> Bool {
        var expected: Realm.Error.Code?
        do {
            try realm.write {
                expected = body()
                if throwsAfterBody { throw Rollback() }
            }
        } catch is Rollback {
            return false
        } catch let error as Realm.Error {
            #expect(error.code == expected, "\(error.message)")
            return false
        }
        #expect(expected == nil, "\(possibleError?.rawValue ?? "a rule") was not enforced")
        return expected == nil
    }

    // MARK: Unique values

    private struct Values: Equatable {
        var code: String?
        var row: Int?
        var column: Int?
    }

    @Test("unique values are checked against the state at the end of a write O5", arguments: 0..<12)
    func unique(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let test = try TestRealm()
        var model: [Int: Values] = [:]
        var held: [Int: Indexed] = [:]
        for _ in 0..<40 {
            let (before, heldBefore) = (model, held)
            let throwsAfterBody = Int.random(in: 0..<4, using: &random) == 0
            let isCommitted = try write(test.realm, possibleError: .uniqueViolation, throwsAfterBody: throwsAfterBody) {
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    change(&model, &held, test.realm, &random)
                    if Int.random(in: 0..<6, using: &random) == 0 {
                        #expect(
                            test.realm.objects(Indexed.self).where { $0.code == "a" }.count
                                == model.values.filter { $0.code == "a" }.count)
                    }
                }
                return isValid(model) ? nil : .uniqueViolation
            }
            if !isCommitted {
                for (id, object) in held where heldBefore[id] !== object { #expect(object.isInvalidated) }
                (model, held) = (before, heldBefore)
            }
            #expect(Set(test.realm.objects(Indexed.self).map(\.id)) == Set(model.keys))
            for (id, values) in model {
                let object = try #require(held[id])
                #expect(!object.isInvalidated && test.realm.object(ofType: Indexed.self, forPrimaryKey: id) == object)
                if object.isInvalidated { return }
                #expect(Values(code: object.code, row: object.row, column: object.column) == values)
            }
        }
    }

    private func isValid(_ model: [Int: Values]) -> Bool {
        let codes = model.values.compactMap(\.code)
        let places = model.values.compactMap { values in values.row.flatMap { row in values.column.map { [row, $0] } } }
        return Set(codes).count == codes.count && Set(places).count == places.count
    }

    private func change(
        _ model: inout [Int: Values], _ held: inout [Int: Indexed], _ realm: Realm, _ random: inout SeededRandom
    ) {
        let id = Int.random(in: 0..<8, using: &random)
        let code = ["a", "b", "c", "d", "e", nil].randomElement(using: &random) ?? nil
        let place = [0, 1, 2, nil].randomElement(using: &random) ?? nil
        guard let object = held[id], model[id] != nil else {
            let new = Indexed(id: id, code: code)
            realm.add(new)
            held[id] = new
            model[id] = Values(code: code)
            return
        }
        switch Int.random(in: 0..<7, using: &random) {
        case 0:
            realm.delete(object)
            model[id] = nil
        case 1:
            object.code = code
            model[id]?.code = code
        case 2:
            object.row = place
            model[id]?.row = place
        case 3:
            object.column = place
            model[id]?.column = place
        case 4:
            let values: [String: Any] = ["id": id, "code": code as Any]
            realm.create(Indexed.self, value: values, update: .modified)
            model[id]?.code = code
        default:
            let others = model.sorted { $0.key < $1.key }
            guard let (other, values) = others.randomElement(using: &random), let second = held[other] else { return }
            (object.code, second.code) = (second.code, object.code)
            let code = model[id]?.code
            model[other]?.code = code
            model[id]?.code = values.code
        }
    }

    // MARK: Rules of deletion

    @Test("cascading and denied deletions in random graphs agree with a model O6", arguments: 0..<16)
    func rules(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let test = try TestRealm()
        var model = KeeperModel()
        var (keepers, kept): ([Int: Keeper], [String: Kept]) = ([:], [:])
        for round in 0..<40 {
            let before = (model, keepers, kept)
            let throwsAfterBody = Int.random(in: 0..<4, using: &random) == 0
            let isCommitted = try write(test.realm, possibleError: .deletionDenied, throwsAfterBody: throwsAfterBody) {
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    change(&model, &keepers, &kept, test.realm, &random)
                }
                return model.isDenied ? .deletionDenied : nil
            }
            if !isCommitted { (model, keepers, kept) = before }
            model.resetDenials()
            for (id, keeper) in keepers {
                #expect(keeper.isInvalidated == (model.keepers[id] == nil), "keeper \(id)")
            }
            for (name, object) in kept { #expect(object.isInvalidated == !model.kept.contains(name), "kept \(name)") }
            guard expectEqual(KeeperModel(test.realm), model) else { return }
            // A Realm on another thread reads the state in the file, which must equal the model, too.
            guard round % 8 == 7 else { continue }
            var stored = KeeperModel()
            try test.onNewThread { stored = KeeperModel($0) }
            guard expectEqual(stored, model) else { return }
        }
    }

    private func expectEqual(_ found: KeeperModel, _ model: KeeperModel) -> Bool {
        #expect(found.kept == model.kept && found.keepers.keys.sorted() == model.keepers.keys.sorted())
        for (id, links) in model.keepers { #expect(found.keepers[id] == links, "keeper \(id)") }
        #expect(found.owners == model.owners)
        return found.kept == model.kept && found.keepers == model.keepers && found.owners == model.owners
    }

    private func change(
        _ model: inout KeeperModel, _ keepers: inout [Int: Keeper], _ kept: inout [String: Kept], _ realm: Realm,
        _ random: inout SeededRandom
    ) {
        let id = Int.random(in: 0..<4, using: &random)
        let name = ["a", "b", "c", "d", "e"].randomElement(using: &random) ?? "a"
        guard model.keepers[id] != nil, let keeper = keepers[id] else {
            let new = Keeper(id: id)
            realm.add(new)
            keepers[id] = new
            model.keepers[id] = KeeperModel.Links()
            return
        }
        guard model.kept.contains(name), let target = kept[name] else {
            let new = Kept(name: name)
            realm.add(new)
            kept[name] = new
            model.kept.insert(name)
            return
        }
        let property = KeeperModel.properties.randomElement(using: &random) ?? "held"
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
            model.delete(keeper: id)
            realm.delete(keeper)
        case 1, 2:
            model.delete(kept: name)
            realm.delete(target)
        case 3:
            let names = model.kept.sorted().filter { _ in Bool.random(using: &random) }
            for name in names { model.delete(kept: name) }
            realm.delete(names.compactMap { kept[$0] })
        case 4:
            model.clear(property, of: id)
            keeper.clear(property)
        case 5:
            let next = model.keepers.keys.sorted().randomElement(using: &random)
            model.keepers[id]?.next = next
            keeper.next = next.flatMap { keepers[$0] }
        default:
            model.link(property, of: id, name)
            keeper.link(property, target)
        }
    }
}

/// A model of the `Keeper` objects, of the `Kept` objects to which they link, and of the deletion rules of these links.
private struct KeeperModel {
    struct Links: Equatable {
        /// The names of the targets by property. The names in a set are sorted. A map has at most one entry, which is
        /// nil after its target was deleted.
        var targets: [String: [String?]] = [:]
        var next: Int?
    }

    static let properties = [
        "vitalList", "vitalSet", "vitalMap", "guardedList", "guardedSet", "guardedMap", "owned", "ownedList",
        "ownedSet",
        "ownedMap", "held", "heldList", "heldSet", "heldMap",
    ]

    var keepers: [Int: Links] = [:]
    var kept: Set<String> = []
    /// The linking objects that a Realm returned. Nil in a model that applies changes, where `owners` is derived from
    /// `keepers`.
    private var linkingObjects: [String: [Int]]?
    /// The guarded properties of each keeper from which a deleted target was removed. They deny the write.
    private var denyingHolders: [Int: Set<String>] = [:]
    /// The targets that deleted keepers held. A target denies the write until the target is deleted, too.
    private var denyingTargets: Set<String> = []

    init() {}

    init(_ realm: Realm) {
        kept = Set(realm.objects(Kept.self).map(\.name))
        var owners: [String: [Int]] = [:]
        for target in realm.objects(Kept.self) where !target.owners.isEmpty {
            owners[target.name] = target.owners.map(\.id).sorted()
        }
        linkingObjects = owners
        for keeper in realm.objects(Keeper.self) {
            var links = Links(next: keeper.next?.id)
            for property in Self.properties {
                let targets = keeper.targets(property)
                if !targets.isEmpty { links.targets[property] = targets }
            }
            keepers[keeper.id] = links
        }
    }

    /// The ids of the keepers that have a target in 'ownedList', by the name of the target. A keeper appears once for
    /// each occurrence of the target.
    var owners: [String: [Int]] {
        if let linkingObjects { return linkingObjects }
        var owners: [String: [Int]] = [:]
        for (id, links) in keepers.sorted(by: { $0.key < $1.key }) {
            for target in links.targets["ownedList", default: []].compactMap({ $0 }) {
                owners[target, default: []].append(id)
            }
        }
        return owners
    }

    var isDenied: Bool { !denyingTargets.isEmpty || denyingHolders.values.contains { !$0.isEmpty } }

    mutating func resetDenials() { (denyingHolders, denyingTargets) = ([:], []) }

    mutating func link(_ property: String, of id: Int, _ name: String) {
        var targets = keepers[id]?.targets[property] ?? []
        if property.hasSuffix("List") {
            targets.append(name)
        } else if property.hasSuffix("Set") {
            targets = Set(targets.compactMap { $0 } + [name]).sorted()
        } else {
            targets = [name]
            denyingHolders[id]?.remove(property)
        }
        keepers[id]?.targets[property] = targets
    }

    mutating func clear(_ property: String, of id: Int) {
        keepers[id]?.targets[property] = nil
        denyingHolders[id]?.remove(property)
    }

    mutating func delete(keeper id: Int) {
        guard let links = keepers.removeValue(forKey: id) else { return }
        denyingHolders[id] = nil
        for other in keepers.keys where keepers[other]?.next == id { keepers[other]?.next = nil }
        for (property, targets) in links.targets where property.hasPrefix("held") {
            denyingTargets.formUnion(targets.compactMap { $0 })
        }
        for (property, targets) in links.targets where property.hasPrefix("owned") {
            for target in targets.compactMap({ $0 }) { delete(kept: target) }
        }
        if let next = links.next { delete(keeper: next) }
    }

    mutating func delete(kept name: String) {
        guard kept.remove(name) != nil else { return }
        for (id, links) in keepers
        where links.targets.contains(where: { $0.key.hasPrefix("vital") && $0.value.contains(name) }) {
            delete(keeper: id)
        }
        for (id, links) in keepers {
            for (property, targets) in links.targets where targets.contains(name) {
                if property.hasPrefix("guarded") { denyingHolders[id, default: []].insert(property) }
                let remaining = property.hasSuffix("Map") ? [nil] : targets.filter { $0 != name }
                keepers[id]?.targets[property] = remaining.isEmpty ? nil : remaining
            }
        }
        denyingTargets.remove(name)
    }
}

extension Keeper {
    fileprivate func list(_ property: String) -> List<Kept>? {
        switch property {
        case "vitalList": vitalList
        case "guardedList": guardedList
        case "ownedList": ownedList
        case "heldList": heldList
        default: nil
        }
    }

    fileprivate func set(_ property: String) -> MutableSet<Kept>? {
        switch property {
        case "vitalSet": vitalSet
        case "guardedSet": guardedSet
        case "ownedSet": ownedSet
        case "heldSet": heldSet
        default: nil
        }
    }

    fileprivate func map(_ property: String) -> Map<Kept?>? {
        switch property {
        case "vitalMap": vitalMap
        case "guardedMap": guardedMap
        case "ownedMap": ownedMap
        case "heldMap": heldMap
        default: nil
        }
    }

    fileprivate func targets(_ property: String) -> [String?] {
        if let list = list(property) { return list.map(\.name) }
        if let set = set(property) { return set.map(\.name).sorted() }
        if let map = map(property) { return map.keys.map { map[$0]??.name } }
        let target = property == "owned" ? owned : held
        return target.map { [$0.name] } ?? []
    }

    fileprivate func link(_ property: String, _ target: Kept) {
        list(property)?.append(target)
        set(property)?.insert(target)
        map(property)?["k"] = target
        if property == "owned" { owned = target }
        if property == "held" { held = target }
    }

    fileprivate func clear(_ property: String) {
        list(property)?.removeAll()
        set(property)?.removeAll()
        map(property)?.removeAll()
        if property == "owned" { owned = nil }
        if property == "held" { held = nil }
    }
}
