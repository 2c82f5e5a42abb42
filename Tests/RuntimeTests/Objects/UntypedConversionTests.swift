import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

/// Assigns random untyped values to properties of every type through every API. Each API converts the value if the rules
/// allow the conversion, and traps otherwise.
@Suite struct UntypedConversionTests {
    /// The name of a property, and a function that converts an untyped value to the type of the property by the
    /// documented rules. The function returns nil if the rules do not allow the conversion.
    struct Kind: Sendable {
        let name: String
        let expected: @Sendable (Any) -> AnyHashable?

        init(_ name: String, _ expected: @escaping @Sendable (Any) -> AnyHashable?) {
            self.name = name
            self.expected = expected
        }
    }

    private static func whole(_ value: Any) -> Int? {
        switch value {
        case let value as Int: value
        case let value as Int8: Int(value)
        case let value as UInt64: Int(exactly: value)
        default: nil
        }
    }

    private static func number(_ value: Any) -> Double? {
        switch value {
        case let value as Double: value
        case let value as Float: Double(value)
        case let value as Decimal: NSDecimalNumber(decimal: value).doubleValue
        // `whole` returns nil for numbers that do not fit into an `Int`.
        case let value as UInt64: Double(value)
        default: whole(value).map(Double.init)
        }
    }

    private static func decimal(_ value: Any) -> Decimal128? {
        switch value {
        case let value as Decimal128: value
        case is Bool, is UUID, is ObjectId, is Date, is Data: nil
        default: try? Decimal128(string: "\(value)")
        }
    }

    static let kinds: [Kind] = [
        Kind("bool") { value in
            (value as? Bool).map { AnyHashable($0) }
                ?? number(value).flatMap { $0 == 0 ? AnyHashable(false) : $0 == 1 ? AnyHashable(true) : nil }
        },
        Kind("int") { whole($0).map { AnyHashable($0) } },
        Kind("int8") { whole($0).flatMap { Int8(exactly: $0) }.map { AnyHashable($0) } },
        Kind("int16") { whole($0).flatMap { Int16(exactly: $0) }.map { AnyHashable($0) } },
        Kind("int32") { whole($0).flatMap { Int32(exactly: $0) }.map { AnyHashable($0) } },
        Kind("int64") { whole($0).map { AnyHashable(Int64($0)) } },
        Kind("float") { value in
            number(value).flatMap { $0.isFinite && Float($0).isInfinite ? nil : AnyHashable(Float($0)) }
        },
        Kind("double") { number($0).map { AnyHashable($0) } },
        Kind("string") { ($0 as? String).map { AnyHashable($0) } },
        Kind("data") { ($0 as? Data).map { AnyHashable($0) } },
        Kind("date") { ($0 as? Date).map { AnyHashable($0) } },
        Kind("uuid") { value in
            (value as? UUID ?? (value as? String).flatMap { UUID(uuidString: $0) }).map { AnyHashable($0) }
        },
        Kind("objectId") { value in
            (value as? ObjectId ?? (value as? String).flatMap { try? ObjectId(string: $0) }).map { AnyHashable($0) }
        },
        Kind("decimal128") { decimal($0).map { AnyHashable($0) } },
    ]

    /// A random value that some properties accept and others do not.
    static func random(_ random: inout SeededRandom) -> Any {
        let small = Int.random(in: -300...300, using: &random)
        switch Int.random(in: 0..<16, using: &random) {
        case 0: return Bool.random(using: &random)
        case 1: return Int.random(in: 0...1, using: &random)
        case 2: return small
        case 3: return Int.random(in: .min ... .max, using: &random)
        case 4: return UInt64.random(in: .min ... .max, using: &random)
        case 5: return Int8.random(in: .min ... .max, using: &random)
        case 6: return [0.0, 1, -0.0, 0.1, 1e300, -2.5, .infinity][abs(small) % 7]
        case 7: return Float(small) / 8
        case 8: return "\(small)" + ["", ".25", "e3", "x", " "][abs(small) % 5]
        case 9: return UUID().uuidString
        case 10: return ObjectId.generate().stringValue
        case 11: return UUID()
        case 12: return ObjectId.generate()
        case 13: return Date(timeIntervalSinceReferenceDate: Double(small))
        case 14: return Data([UInt8(abs(small) % 256)])
        default: return Decimal(small) / 4
        }
    }

    private func same(_ value: Any?, _ expected: AnyHashable) -> Bool {
        (value as? any Hashable).map { AnyHashable($0) == expected && type(of: $0) == type(of: expected.base) } ?? false
    }

    @Test("every untyped API converts exactly the values that the property accepts O58 O12", arguments: 0..<6)
    func accepted(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let test = try TestRealm()
        let realm = test.realm
        try realm.beginWrite()
        var accepted = 0
        for id in 0..<250 {
            let kind = Self.kinds[Int.random(in: 0..<Self.kinds.count, using: &random)]
            let value = Self.random(&random)
            let type = try #require(realm.context.schema["Scalars"]?.type[kind.name])
            guard let expected = kind.expected(value) else {
                #expect(
                    UntypedValue.stored(value, type.element, isOptional: false) == nil, "\(kind.name) takes \(value)")
                continue
            }
            accepted += 1
            let (name, elements) = (kind.name, kind.name + "s")
            var found: [Any?] = [
                realm.create(Scalars.self, value: ["id": id, name: value])[name],
                realm.create(OptionalScalars.self, value: ["id": id, name: value])[name],
                Scalars(value: [name: value])[name],
            ]
            let object = Scalars()
            object.setValue(value, forKey: name)
            found.append(object.value(forKey: name))
            let managed = try #require(realm.dynamicObject(ofType: "OptionalScalars", forPrimaryKey: id))
            managed[name] = nil
            managed[name] = value
            found.append(managed[name])
            for isOptional in [false, true] {
                let prefix = isOptional ? "Optional" : "Scalar"
                let lists = realm.dynamicCreate("\(prefix)Lists", value: ["id": id, elements: [value]])
                let list = lists.dynamicList(elements)
                list.append(value)
                list.insert(value, at: 1)
                list[0] = value
                lists.object.mutableArrayValue(forKey: elements).append(value)
                found += list.map { $0 }
                let unmanaged = isOptional ? OptionalLists() as Object : ScalarLists()
                unmanaged[elements] = [value]
                found += unmanaged.dynamicList(elements).map { $0 }
                let maps = realm.dynamicCreate("\(prefix)Maps", value: ["id": id, elements: ["a": value]])
                maps.dynamicMap(elements)["b"] = value
                found += maps.dynamicMap(elements).map(\.value)
            }
            let set = realm.dynamicCreate("ScalarSets", value: ["id": id, elements: [value, value]])
                .dynamicSet(elements)
            #expect(set.count == 1 && set.contains(value), "\(name): \(value)")
            found.append(set[0])
            for element in found {
                #expect(same(element, expected), "\(name): \(value) of \(type) gave \(element ?? "nil")")
            }
        }
        #expect(accepted > 50)
        realm.cancelWrite()
    }

    /// Returns the name of a property, and a random value that the property does not accept.
    private static func rejectedValue(_ seed: UInt64) -> (name: String, value: Any) {
        var random = SeededRandom(seed: seed)
        while true {
            let (kind, value) = (kinds[Int(seed) % kinds.count], Self.random(&random))
            if kind.expected(value) == nil { return (kind.name, value) }
        }
    }

    /// Passes a value that must be rejected to one of nine APIs.
    private static func passRejectedValue(_ seed: UInt64) throws {
        let (name, value) = rejectedValue(seed)
        let test = try TestRealm()
        let realm = test.realm
        try realm.beginWrite()
        let (lists, maps, sets) = (ScalarLists(), ScalarMaps(), ScalarSets())
        switch seed % 9 {
        case 0: realm.create(Scalars.self, value: [name: value])
        case 1: _ = OptionalScalars(value: [name: value])
        case 2: Scalars()[name] = value
        case 3: realm.create(ScalarLists.self, value: [name + "s": [value]])
        case 4: lists.dynamicList(name + "s").append(value)
        case 5: maps.dynamicMap(name + "s")["k"] = value
        case 6: sets.dynamicSet(name + "s").insert(value)
        case 7: realm.create(OptionalMaps.self, value: [name + "s": ["k": value]])
        default: lists.mutableArrayValue(forKey: name + "s").append(value)
        }
    }

    @Test(
        "a value that cannot be converted traps, and the message contains the property and the type of the value O58 O12",
        arguments: 0..<28)
    func refused(_ seed: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [seed = seed as Int] in
            try UntypedConversionTests.passRejectedValue(UInt64(seed))
        }
        let (name, value) = Self.rejectedValue(UInt64(seed))
        expectMessage(result, ".\(name)")
        expectMessage(result, "of type '\(type(of: value))'")
    }

    @Test("JSON numbers, booleans and strings are converted, and decimals are not rounded O58 O12") func json() throws {
        let text = """
            {"bool": 1, "int": 7, "double": 1, "uuid": "0B4A1A5C-0B0A-4B7B-9C6D-2A1B3C4D5E6F",
             "objectId": "0123456789abcdef01234567", "decimal128": 12.25, "float": 0.5, "anyValue": [1, true, null]}
            """
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let scalars = Scalars(value: json)
        #expect(scalars.bool && scalars.int == 7 && scalars.double == 1 && scalars.float == 0.5)
        #expect(scalars.uuid.uuidString.hasPrefix("0B4A1A5C") && scalars.objectId.stringValue.hasPrefix("0123"))
        #expect(scalars.decimal128 == Decimal128("12.25"))
        let elements = try JSONSerialization.jsonObject(with: Data("[1, 0, true, false]".utf8))
        #expect(Array(ScalarLists(value: ["bools": elements]).bools) == [true, false, true, false])
        let numbers = try JSONSerialization.jsonObject(with: Data("[1, 0.5]".utf8))
        #expect(Array(ScalarLists(value: ["decimal128s": numbers]).decimal128s) == [1, Decimal128("0.5")])
        struct Holder: Codable { let number: Decimal128 }
        for (text, expected) in [
            ("12.5", "12.5"), ("-7", "-7"), ("\"1e-7\"", "1e-7"), ("0.1", "0.1"), ("1e200", "1e200"),
            ("12345678901234567890.123456789", "12345678901234567890.123456789"),
        ] {
            let holder = try JSONDecoder().decode(Holder.self, from: Data("{\"number\": \(text)}".utf8))
            #expect(try holder.number == Decimal128(string: expected), "\(text)")
        }
        for text in ["true", "null", "[]", "\"x\""] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(Holder.self, from: Data("{\"number\": \(text)}".utf8))
            }
        }
    }

    @Test("collections of enums and of optional enums accept raw values and cases O31") func enums() {
        let (lists, maps) = (OptionalLists(), ScalarMaps())
        lists.setValue([5, nil, Level.low] as [Any?], forKey: "levels")
        lists.setValue(["good", NSNull()] as [Any], forKey: "sizes")
        maps.setValue(["a": "best"], forKey: "sizes")
        #expect(Array(lists.levels) == [.middle, nil, .low] && Array(lists.sizes) == [.good, nil])
        #expect(maps.sizes["a"] == .best)
    }

    @Test(
        "untyped reads of an 'AnyRealmValue' return the contained value, also for elements and observers O32"
    )
    func bare() throws {
        final class Recorder: KeyValueObserver {
            var values: [Any?] = []
            func observeValue(
                forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
                context: UnsafeMutableRawPointer?
            ) {
                values.append(change?[.newKey])
            }
        }
        let object = Scalars(anyValue: .int(5))
        let recorder = Recorder()
        object.addObserver(recorder, forKeyPath: "anyValue", options: .new)
        #expect(object["anyValue"] as? Int == 5 && object.value(forKeyPath: "anyValue") as? Int == 5)
        object["anyValue"] = "text"
        #expect(object.anyValue == .string("text") && recorder.values.first as? String == "text")
        object["anyValue"] = ["a": [1, nil] as [Any?]]
        #expect(object.anyValue == .map(["a": .list([.int(1), .none])]))
        let map = object["anyValue"] as? [String: Any]
        #expect((map?["a"] as? [Any?])?.first as? Int == 1)
        object.anyValue = .none
        #expect(object["anyValue"] == nil)
        let lists = ScalarLists(value: ["anyValues": [1, "x", nil, Node(id: 2)] as [Any?]])
        let list = lists.dynamicList("anyValues")
        #expect(list[0] as? Int == 1 && list[1] as? String == "x" && list[2] == nil && (list[3] as? Node)?.id == 2)
        object.removeObserver(recorder, forKeyPath: "anyValue")
    }

    @Test("linking objects that are read by name are live, and empty for an unmanaged object O45") func linkingObjects()
        throws
    {
        let node = Node(id: 1)
        #expect(node.value(forKeyPath: "parents.@count") as? Int == 0)
        #expect((node["parents"] as? LinkingObjects<Node>)?.isEmpty == true)
        let test = try TestRealm(holding: node)
        let parents = try #require(node["parents"] as? LinkingObjects<Node>)
        try test.realm.write { test.realm.add(Node(id: 2, children: [node])) }
        #expect(parents.map(\.id) == [2] && node.value(forKeyPath: "parents.@count") as? Int == 1)
        #expect(node.value(forKeyPath: "parents.id") as? [Int] == [2])
        try test.realm.write { test.realm.add(Node(id: 3, amount: 1, peers: [node, Node(id: 4, amount: 1)])) }
        let third = try #require(test.realm.object(ofType: Node.self, forPrimaryKey: 3))
        #expect(
            third.peers.value(forKey: "amount").count == 2 && third.peers.value(forKey: "name") as? [String] == [""])
    }

    @Test("the description shows nested objects and elements, with a limited depth and length O11") func description()
        throws
    {
        let node = Node(
            id: 1, next: Node(id: 2, next: Node(id: 3, next: Node(id: 4, next: Node(id: 5)))),
            children: (10..<30).map { Node(id: $0) }, part: Part(name: "p", tags: ["a", "b"]))
        let text = node.description
        #expect(
            text.hasPrefix("Node { id = 1; ") && text.contains("next = Node { id = 4; ")
                && text.contains("next = Node(…)"))
        #expect(text.contains("… 10 more]") && text.contains("tags = [\"a\", \"b\"]") && !text.contains("id = 5"))
        node.children.forEach { child in child.children.append(objectsIn: (1_000..<1_100).map { Node(id: $0) }) }
        node.name = String(repeating: "x", count: 10_000)
        #expect(node.description.count < 20_000)
        let test = try TestRealm()
        node.next?.next = node
        try test.realm.write { test.realm.add(node, update: .modified) }
        #expect(node.description.contains("next = Node(…)"))
    }
}
