import ConformanceModels
import Foundation
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

/// A loop reads only the columns that its body reads, and uses one object for several rows. These tests compare the
/// values that random loop bodies read with a model.
@Suite struct LoopColumnTests {
    @Test("random loop bodies read the values of a model, and kept objects stay correct N130", arguments: 0..<12)
    func nodes(seed: UInt64) throws {
        let random = SeededRandom(seed: seed)
        var world = try World<Node>(
            random,
            [
                { "\($0.id)" }, { $0.name }, { "\($0.amount.bitPattern)" }, { "\($0.next?.id ?? -1)" },
                { "\($0.children.map(\.id))" }, { "\($0.peers.count)" }, { "\($0.named["a"]??.name ?? "-")" },
                { "\($0.part == nil)" },
            ]
        ) { random, others in
            let node = Node(id: others.count, name: random.text(), amount: random.double())
            node.next = others.randomElement(using: &random)
            node.children.append(objectsIn: others.shuffled(using: &random).prefix(3))
            node.peers.insert(objectsIn: others.prefix(2))
            return node
        } change: { random, node in
            if Bool.random(using: &random) { node.name = random.text() }
            if Bool.random(using: &random) { node.amount = random.double() }
            if Bool.random(using: &random) { node.next = nil }
            if Bool.random(using: &random) { node.children.removeAll() }
        } id: {
            $0.id
        }
        for _ in 0..<6 { try world.loop() }
    }

    @Test("random loop bodies read all types of properties N130", arguments: 0..<8)
    func scalars(seed: UInt64) throws {
        let random = SeededRandom(seed: seed)
        var world = try World<Scalars>(
            random,
            [
                { "\($0.id)" }, { "\($0.bool)" }, { "\($0.int)" }, { "\($0.int8)" }, { "\($0.float.bitPattern)" },
                { "\($0.double.bitPattern)" }, { $0.string }, { "\($0.data.map { $0 })" },
                { "\($0.date.timeIntervalSinceReferenceDate.bitPattern)" }, { "\($0.uuid)" }, { "\($0.objectId)" },
                { "\($0.decimal128)" }, { "\($0.anyValue)" },
            ]
        ) { random, others in
            let object = Scalars(id: others.count)
            object.randomize(&random)
            return object
        } change: { random, object in
            object.randomize(&random)
        } id: {
            $0.id
        }
        for _ in 0..<6 { try world.loop() }
    }

    @Test("random loop bodies read types that have more properties than a bit mask has bits N130", arguments: 0..<6)
    func wide(seed: UInt64) throws {
        let random = SeededRandom(seed: seed)
        var world = try World<Wide>(
            random,
            [
                { "\($0.id)" }, { "\($0.p1)" }, { "\($0.p29)" }, { "\($0.p30)" }, { "\($0.p31)" }, { "\($0.p32)" },
                { "\($0.p60)" }, { "\($0.p62)" }, { "\($0.p65)" }, { $0.p67 }, { "\($0.p70)" },
            ]
        ) { random, others in
            let object = Wide(id: others.count)
            object.p1 = Int.random(in: 0..<9, using: &random)
            object.p31 = Int.random(in: 0..<9, using: &random)
            object.p32 = Int.random(in: 0..<9, using: &random)
            object.p62 = random.double()
            return object
        } change: { random, object in
            object.p30 += 1
            object.p32 += 1
            if Bool.random(using: &random) { object.p67 = random.text() }
        } id: {
            $0.id
        }
        for _ in 0..<6 { try world.loop() }
    }

    @Test("a loop uses its object again for the next row if nothing else refers to the object N130")
    func reuse() throws {
        let test = try TestRealm()
        try test.realm.write { test.realm.add((0..<100).map { Node(id: $0, name: "\($0)") }) }
        var pointers: Set<UnsafeMutableRawPointer> = []
        for node in test.realm.objects(Node.self) { pointers.insert(Unmanaged.passUnretained(node).toOpaque()) }
        #expect(pointers.count == 1)

        var kept: [Node] = []
        var lists: [List<Node>] = []
        weak var weakNode: Node?
        for node in test.realm.objects(Node.self) {
            if node.id % 10 == 3 { kept.append(node) }
            if node.id % 10 == 5 { lists.append(node.children) }
            if node.id == 77 { weakNode = node }
            if node.id > 77 { #expect(weakNode == nil) }
        }
        #expect(kept.map(\.name) == (0..<10).map { "\($0 * 10 + 3)" })
        #expect(kept.allSatisfy { $0 === test.realm.object(ofType: Node.self, forPrimaryKey: $0.id) })
        try test.realm.write { lists[4].append(kept[0]) }
        #expect(test.realm.object(ofType: Node.self, forPrimaryKey: 45)?.children.map(\.id) == [3])
    }

    @Test("a loop uses no object for two rows if the class has ignored properties N130") func ignoredProperties()
        throws
    {
        let test = try TestRealm()
        try test.realm.write { test.realm.add((0..<50).map { _ in Defaults() }) }
        for object in test.realm.objects(Defaults.self) {
            #expect(object.count == 3)
            object.count = 4
        }
    }
}

/// Objects of one type in a Realm, and a model of the values that the readers return for them.
private struct World<T: Object & KeyedObject> where T._PrimaryKey == Int {
    private let test: TestRealm
    private var random: SeededRandom
    private let readers: [(T) -> String]
    private let change: (inout SeededRandom, T) -> Void
    private let id: (T) -> Int
    private var rows: [Int: [String]] = [:]
    private var kept: [(object: T, id: Int)] = []

    private struct WeakObject {
        weak var object: T?
        let id: Int
    }

    init(
        _ random: SeededRandom, _ readers: [(T) -> String], make: (inout SeededRandom, [T]) -> T,
        change: @escaping (inout SeededRandom, T) -> Void, id: @escaping (T) -> Int
    ) throws {
        test = try TestRealm()
        (self.random, self.readers, self.change, self.id) = (random, readers, change, id)
        var objects: [T] = []
        for _ in 0..<Int.random(in: 20..<200, using: &self.random) { objects.append(make(&self.random, objects)) }
        try test.realm.write { test.realm.add(objects) }
        update()
    }

    // Detached copies always have all values, so a skipped column cannot affect the model.
    private mutating func update() {
        let frozen = test.realm.freeze()
        rows = [:]
        for object in frozen.objects(T.self) { rows[id(object)] = readers.map { $0(object) } }
    }

    private func check(_ object: T, _ reader: Int, _ id: Int) {
        #expect(readers[reader](object) == rows[id]?[reader], "property \(reader) of \(id)")
    }

    /// Runs a loop with a random body over a random collection.
    mutating func loop() throws {
        let used = readers.indices.shuffled(using: &random).prefix(Int.random(in: 0..<4, using: &random))
        var weakObjects: [WeakObject] = []
        let all = test.realm.objects(T.self)
        switch Int.random(in: 0..<7, using: &random) {
        case 4: try visitPositions(all, used, &weakObjects) { $0 + 1 }
        case 5: try visitPositions(all.filter("id >= 7"), used, &weakObjects) { $0 + 1 }
        case 6: try visitPositions(all, used, &weakObjects) { $0 - 1 }
        case 0: for object in all { try visit(object, used, &weakObjects) }
        case 1: for object in all.filter("id >= 10") { try visit(object, used, &weakObjects) }
        case 2: for object in all.sorted(byKeyPath: "id", ascending: false) { try visit(object, used, &weakObjects) }
        default: for object in Array(all) where !object.isInvalidated { try visit(object, used, &weakObjects) }
        }
        kept.removeAll { $0.object.isInvalidated }
        for (object, id) in kept { for reader in readers.indices { check(object, reader, id) } }
        for weak in weakObjects {
            if let object = weak.object { #expect(kept.contains { $0.object === object }, "\(weak.id) is referenced") }
        }
        if Bool.random(using: &random) { kept = [] }
    }

    /// Reads consecutive positions, forwards or backwards, and sometimes skips some.
    private mutating func visitPositions(
        _ objects: Results<T>, _ used: ArraySlice<Int>, _ weakObjects: inout [WeakObject], _ next: (Int) -> Int
    ) throws {
        var position = next(0) < 0 ? objects.count - 1 : 0
        while position >= 0, position < objects.count {
            let ids = rows.keys.filter { $0 >= 7 || objects.count == rows.count }.sorted()
            let object = objects[position]
            #expect(id(object) == ids[position])
            #expect(objects.index(of: object) == position)
            try visit(object, used, &weakObjects)
            position = next(position)
            if Int.random(in: 0..<20, using: &random) == 0 { position = next(next(position)) }
        }
    }

    private mutating func visit(_ object: T, _ used: ArraySlice<Int>, _ weakObjects: inout [WeakObject]) throws {
        if object.isInvalidated { return }
        let id = id(object)
        for reader in used { check(object, reader, id) }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<3: check(object, readers.indices.randomElement(using: &random) ?? 0, id)
        case 3..<6: kept.append((object, id))
        case 6..<9: weakObjects.append(WeakObject(object: object, id: id))
        case 9..<11: #expect(test.realm.object(ofType: T.self, forPrimaryKey: id) === object)
        case 11..<13: try changeSomething(object)
        case 13: try changeInOtherRealm()
        case 14..<16:
            for inner in test.realm.objects(T.self).filter("id < 30") {
                check(inner, readers.indices.randomElement(using: &random) ?? 0, self.id(inner))
            }
        case 16:
            let copy = object.detached()
            #expect(readers.first.map { $0(copy) } == rows[id]?.first)
        case 17: for reader in readers.indices { check(object.freeze(), reader, id) }
        case 18: for _ in 0..<70 { for reader in used { check(object, reader, id) } }
        case 19: #expect(Set([object]).contains(object))
        case 20: for reader in readers.indices { check(object, reader, id) }
        case 21:
            if let (object, id) = kept.randomElement(using: &random), !object.isInvalidated {
                check(object, readers.indices.randomElement(using: &random) ?? 0, id)
            }
        default: break
        }
    }

    private mutating func changeSomething(_ object: T) throws {
        let other = test.realm.objects(T.self).randomElement(using: &random)
        let isCancelled = Int.random(in: 0..<4, using: &random) == 0
        try test.realm.beginWrite()
        change(&random, Bool.random(using: &random) ? object : other ?? object)
        if Int.random(in: 0..<3, using: &random) == 0, let other, other !== object { test.realm.delete(other) }
        if isCancelled { test.realm.cancelWrite() } else { try test.realm.commitWrite() }
        update()
    }

    private mutating func changeInOtherRealm() throws {
        nonisolated(unsafe) let world = self
        let seed = random.next()
        try test.onNewThread { realm in
            var random = SeededRandom(seed: seed)
            try realm.write {
                for object in Array(realm.objects(T.self)) where Bool.random(using: &random) {
                    world.change(&random, object)
                }
            }
        }
        _ = test.realm.refresh()
        update()
        for (object, id) in kept where !object.isInvalidated {
            for reader in readers.indices { check(object, reader, id) }
        }
    }
}

extension SeededRandom {
    fileprivate mutating func text() -> String {
        ["", "a", "a text that is longer than fifteen bytes", "ä", "x\0y"].randomElement(using: &self) ?? ""
    }

    fileprivate mutating func double() -> Double {
        [0, -0.0, .nan, .infinity, 1.5, -3e300].randomElement(using: &self) ?? 0
    }
}

extension Scalars {
    fileprivate func randomize(_ random: inout SeededRandom) {
        bool = Bool.random(using: &random)
        int = Int.random(in: Int.min...Int.max, using: &random)
        int8 = Int8.random(in: Int8.min...Int8.max, using: &random)
        float = Float(random.double())
        double = random.double()
        string = random.text()
        data = Data(random.text().utf8)
        date = Date(timeIntervalSinceReferenceDate: Double(int8))
        uuid = UUID()
        decimal128 = Decimal128(Int(int8))
        anyValue =
            [.none, .int(3), .string(random.text()), .double(random.double())].randomElement(using: &random) ?? .none
    }
}
