import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import MartletValues
import ModelTesting
import Testing

@testable import Martlet

/// A search for one element must find the same position as a comparison with every element. The elements may be in the
/// file, in chunks in memory, or among the changes that are not written to the file yet.
@Suite("searches in collections") struct CollectionSearchTests {
    private static let types = [
        "ScalarLists", "OptionalLists", "ScalarSets", "OptionalSets", "ScalarMaps", "OptionalMaps",
    ]

    struct Limits: CustomTestStringConvertible {
        let chunk: Int
        let searches: Int
        var testDescription: String { "chunks of \(chunk), positions after \(searches) searches" }
    }

    @Test(
        "a search finds the first equal element in every state O43 O44",
        arguments: [Limits(chunk: 2, searches: 1_000), Limits(chunk: 2, searches: 2), Limits(chunk: 512, searches: 4)])
    func allElementTypes(_ limits: Limits) throws {
        let test = try TestRealm {
            $0.environment.chunkLimit = limits.chunk
            $0.environment.searchesBeforePositions = limits.searches
        }
        try test.realm.write {
            test.realm.add((1...8).map { Node(id: $0) })
            test.realm.add([ScalarLists()])
            test.realm.add([OptionalLists()])
            test.realm.add([ScalarSets()])
            test.realm.add([OptionalSets()])
            test.realm.add([ScalarMaps()])
            test.realm.add([OptionalMaps()])
        }
        for type in Self.types {
            let owner = try #require(test.realm.dynamicObjects(type).first?.object)
            for property in owner._model.schema.properties where property.isCollection {
                var trial = try Trial(owner, property, seed: UInt64(limits.chunk + property.index))
                try trial.run(test.realm)
            }
        }
    }

    @Test(
        "a search in a set of links sees changes of the open write, and the state after a rollback O43",
        arguments: [2, 512])
    func links(_ chunkLimit: Int) throws {
        let test = try TestRealm { $0.environment.chunkLimit = chunkLimit }
        let realm = test.realm
        var random = SeededRandom(seed: UInt64(chunkLimit))
        let nodes = (0..<12).map { Node(id: $0) }
        try realm.write { realm.add(nodes) }
        let node = nodes[0]
        var (peers, children) = (Set<Int>(), [Int]())
        func check() {
            let frozen = node.freeze()
            for other in nodes.shuffled(using: &random) where !other.isInvalidated {
                #expect(node.peers.contains(other) == peers.contains(other.id))
                #expect(frozen.peers.contains(other.freeze()) == peers.contains(other.id))
                #expect(node.children.contains(other) == children.contains(other.id))
                #expect(node.children.index(of: other) == children.firstIndex(of: other.id))
            }
        }
        for round in 0..<40 {
            let before = (peers, children)
            try realm.beginWrite()
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                guard let other = nodes.dropFirst(2).filter({ !$0.isInvalidated }).randomElement(using: &random) else {
                    break
                }
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    node.peers.insert(other)
                    peers.insert(other.id)
                case 2:
                    node.peers.remove(other)
                    peers.remove(other.id)
                case 3, 4:
                    node.children.append(other)
                    children.append(other.id)
                default:
                    if !children.isEmpty { children.remove(at: Int.random(in: 0..<children.count, using: &random)) }
                    node.children.removeAll()
                    node.children.append(objectsIn: children.map { nodes[$0] })
                }
                if Bool.random(using: &random) { _ = realm.objects(Node.self).where { $0.children.id == 3 }.count }
                for other in nodes where Bool.random(using: &random) && !other.isInvalidated {
                    #expect(node.peers.contains(other) == peers.contains(other.id))
                    #expect(node.children.contains(other) == children.contains(other.id))
                }
            }
            if round.isMultiple(of: 5) {
                realm.cancelWrite()
                (peers, children) = before
            } else {
                try realm.commitWrite()
            }
            check()
            if round == 30, let gone = nodes.last {
                try realm.write { realm.delete(gone) }
                peers.remove(11)
                children.removeAll { $0 == 11 }
                #expect(!node.peers.contains(gone) && !node.children.contains(gone))
                check()
            }
            for name in ["peers", "children"] { collectionCore(node, name)?.discardElements() }
            check()
        }
    }

    @Test("repeated searches in results find the first position of each object O41") func results() throws {
        let test = try TestRealm()
        let nodes = (0..<40).map { Node(id: $0, amount: Double($0 * 7 % 40)) }
        try test.realm.write {
            test.realm.add(nodes)
            nodes[0].children.append(objectsIn: nodes.reversed() + nodes)
        }
        let sorted = test.realm.objects(Node.self).sorted(byKeyPath: "amount")
        let members = nodes[0].children.where { $0.amount >= 3 }
        for round in 0..<3 {
            let (ids, memberIDs) = (sorted.map(\.id), members.map(\.id))
            for _ in 0..<3 {
                for node in nodes {
                    #expect(sorted.index(of: node) == ids.firstIndex(of: node.id))
                    #expect(members.index(of: node) == memberIDs.firstIndex(of: node.id))
                }
            }
            try test.realm.write { nodes[round * 3].amount = Double(50 - round) }
        }
    }

    @Test("a search in a collection of a deleted owner finds nothing O43") func deletedOwner() throws {
        let test = try TestRealm()
        let nodes = [Node(id: 1), Node(id: 2)]
        nodes[0].peers.insert(nodes[1])
        try test.realm.write { test.realm.add(nodes) }
        let peers = nodes[0].peers
        #expect(peers.contains(nodes[1]))
        try test.realm.write { test.realm.delete(nodes[0]) }
        #expect(peers.isInvalidated && peers.count == 0)
        try test.realm.write { test.realm.add(Node(id: 1)) }
        let again = test.realm.object(ofType: Node.self, forPrimaryKey: 1)
        #expect(again?.peers.contains(nodes[1]) == false)
    }
}

private func collectionCore(_ object: ObjectBase, _ name: String) -> CollectionCore? {
    guard let context = object._context, let table = object._table, let property = table.type[name] else { return nil }
    return context.core(table, property.index, object._key)
}

/// Random changes of one collection, and of an array with the same stored elements.
private struct Trial {
    let owner: ObjectBase
    let property: PropertySchema
    var random: SeededRandom
    var model: [SQLValue] = []
    let pool: [SQLValue]

    init(_ owner: ObjectBase, _ property: PropertySchema, seed: UInt64) throws {
        self.owner = owner
        self.property = property
        random = SeededRandom(seed: seed)
        pool = Self.values(property)
    }

    private func core(of object: ObjectBase) throws -> CollectionCore {
        try #require(collectionCore(object, property.name))
    }

    private var isMap: Bool { property.kind == .map }

    mutating func run(_ realm: Realm) throws {
        // Embedded objects have tests of their own, and their keys cannot be inserted into a collection.
        if property.element.isEmbedded { return }
        let core = try core(of: owner)
        for round in 0..<6 {
            let before = model
            try realm.beginWrite()
            for _ in 0..<8 {
                change(core)
                if Bool.random(using: &random) { check(core, "in a write") }
                if Int.random(in: 0..<6, using: &random) == 0 { realm.context.flushForQuery() }
                if Int.random(in: 0..<6, using: &random) == 0, !core.isQueued {
                    core.discardElements()
                    check(core, "read again in a write")
                }
            }
            if round == 3 {
                realm.cancelWrite()
                model = before
                check(core, "after a rollback")
            } else {
                try realm.commitWrite()
                check(core, "after a commit")
            }
            core.discardElements()
            for _ in 0..<3 { check(core, "read again") }
            check(try self.core(of: owner.freeze()), "frozen")
        }
    }

    // Compares every element with the sought value, without the code under test. In a map, keys are at even positions.
    private func slowPosition(_ value: SQLValue) -> Int? {
        stride(from: 0, to: model.count, by: isMap ? 2 : 1).first { identity(model[$0]) == identity(value) }
    }

    private func identity(_ value: SQLValue) -> SQLValue {
        if isMap { return value }
        if property.isAny { return property.kind == .set ? AnyValue.sortKey(value) : AnyValue.normalized(value) }
        guard property.element.isFloating, case .real(let number) = FloatingSpecials.decodedElement(value) else {
            return value
        }
        return number.isNaN ? .text("nan") : .real(number == 0 ? 0 : number)
    }

    private mutating func check(_ core: CollectionCore, _ state: String) {
        for value in pool.shuffled(using: &random) {
            let expected = slowPosition(value)
            let place = "\(core.name), \(value), \(state)"
            if !isMap, Bool.random(using: &random) { #expect(core.contains(value) == (expected != nil), "\(place)") }
            #expect(core.position(of: value) == expected, "\(place)")
        }
        if Int.random(in: 0..<4, using: &random) == 0 { #expect(core.all() == model, "\(core.name), \(state)") }
    }

    private mutating func change(_ core: CollectionCore) {
        guard let value = pool.randomElement(using: &random) else { return }
        let known = slowPosition(value)
        if isMap {
            if let known, Bool.random(using: &random) {
                core.remove(at: [known, known + 1])
                model.removeSubrange(known...known + 1)
            } else if known == nil {
                for new in [value, Self.mapValue(property)] {
                    core.append(new)
                    model.append(new)
                }
            }
            return
        }
        let position = model.indices.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where !model.isEmpty:
            core.remove(at: position)
            model.remove(at: position)
        case 1 where property.kind == .list && !model.isEmpty:
            let other = model.indices.randomElement(using: &random) ?? 0
            core.swap(position, other)
            model.swapAt(position, other)
        case 2 where property.kind == .list && !model.isEmpty:
            core.replace(at: position, with: value)
            model[position] = value
        case 3 where property.kind == .list && !model.isEmpty:
            core.move(from: position, to: 0)
            model.insert(model.remove(at: position), at: 0)
        case 4 where property.kind == .list:
            core.insert(value, at: position)
            model.insert(value, at: position)
        default:
            if property.kind == .set, known != nil { return }
            core.append(value)
            model.append(value)
        }
    }

    // MARK: Values

    private static func mapValue(_ property: PropertySchema) -> SQLValue { values(property, isKey: false)[0] }

    private static func special(_ bits: UInt64) -> SQLValue {
        .blob(withUnsafeBytes(of: bits.littleEndian) { Array($0) })
    }

    /// Random elements of a collection, or random keys of a map if `isKey` is true.
    private static func values(_ property: PropertySchema, isKey: Bool = true) -> [SQLValue] {
        let texts: [SQLValue] = ["a", "", "a\0", "a\0b", "\u{e9}", "e\u{301}", String(repeating: "ü", count: 300)].map {
            .text($0)
        }
        if property.kind == .map && isKey { return texts }
        let some: [SQLValue] =
            switch property.element {
            case .link, .embedded: (1...8).map { .integer($0) }
            case .intEnum: [.integer(1), .integer(5)]
            case .stringEnum: [.text("good"), .text("bad")]
            case .scalar(let scalar):
                switch scalar {
                case .bool: [.integer(0), .integer(1)]
                case .int, .int64: [.integer(0), .integer(.min), .integer(.max), .integer(0x0101_0101), .integer(-1)]
                case .int8, .int16, .int32: [.integer(0), .integer(1), .integer(-128), .integer(127)]
                case .float, .double, .date:
                    [.real(1.5), .real(0), .real(-.infinity), .real(3)]
                        + [special((-0.0).bitPattern), special(Double.nan.bitPattern), special(0x7ff8_0000_0000_0001)]
                case .string: texts
                case .data: [.blob([1]), .blob([]), .blob([UInt8](repeating: 1, count: 9)), .blob([3, 0])]
                case .uuid: (0..<4).map { .blob([UInt8](repeating: $0, count: 16)) }
                case .objectId: (0..<4).map { .blob([UInt8](repeating: $0, count: 12)) }
                case .decimal128: ["0", "1", "-2.5"].map { Decimal128($0)._stored.raw }
                case .any: anyValues
                }
            }
        return property.isOptional && !property.isAny ? some + [.null] : some
    }

    private static var anyValues: [SQLValue] {
        let values: [AnyRealmValue] = [
            .int(1), .double(1), .float(1), .double(.nan), .float(.nan), .double(-0.0), .int(0), .string("a"),
            .bool(true),
            .none, .data(Data([1])), .double(1.5), .float(1.5), .string("\u{e9}"), .string("e\u{301}"),
        ]
        return values.map { $0._stored.raw }
    }
}
