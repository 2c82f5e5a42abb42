import ConformanceModels
import Foundation
import KennelModels
import Martlet
import MartletTestSupport
import Testing

@Suite struct CodableTests {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    /// Encodes an unmanaged object, its decoded copy, and the same object after it was added to a Realm. Expects three
    /// equal texts, and returns the decoded copy.
    private func expectRoundTrip<Model: Object & Codable>(_ object: Model) throws -> Model {
        let test = try TestRealm()
        let text = try json(object)
        let decoded = try read(Model.self, text)
        #expect(try json(decoded) == text && decoded.realm == nil)
        try test.realm.write { test.realm.add(object) }
        #expect(try json(object) == text)
        return decoded
    }

    private let bytes = Data([0, 1, 255])
    private let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    private let objectId = ObjectId("0123456789abcdef01234567")
    private let decimal = Decimal128("12345678901234567890.12345")
    private let day = Date(timeIntervalSinceReferenceDate: 1_234.5)

    @Test("NaN and infinities in AnyRealmValue are decoded as numbers if the encoder writes them as strings O65")
    func nonFiniteAnyValues() throws {
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let values: [AnyRealmValue] = [
            .double(.nan), .double(.infinity), .double(-.infinity), .float(.nan), .float(-.infinity), .double(-0.0),
            .double(0.5), .string("nan"),
        ]
        for value in values {
            let decoded = try decoder.decode(AnyRealmValue.self, from: encoder.encode(value))
            #expect("\(decoded)" == "\(value)")
        }
    }

    @Test("decoding a Decimal128 from a number with more than 34 digits throws an error that states the limit O65")
    func longDecimals() throws {
        #expect(try read([Decimal128].self, "[0.5, 7, \"1.25\"]").map(\.description) == ["0.5", "7", "1.25"])
        for text in ["1234567890123456789012345678901234567.5", "\"1234567890123456789012345678901234567.5\""] {
            let error = #expect(throws: DecodingError.self) { try read([Decimal128].self, "[\(text)]") }
            #expect("\(error.map { "\($0)" } ?? "")".contains("is not a decimal number of at most 34 digits"))
        }
    }

    @Test("values of every type are encoded and decoded without loss O65 O30 O40") func scalars() throws {
        let decoded = try expectRoundTrip(
            Scalars(
                id: 1, bool: true, int: .max, int8: -8, int16: 16, int32: -32, int64: .min, float: 0.1, double: -0.1,
                string: "e\u{301}\0", data: bytes, date: day, uuid: uuid, objectId: objectId, decimal128: decimal,
                anyValue: .date(day)))
        #expect(decoded.bool && decoded.int == .max && decoded.int8 == -8 && decoded.int16 == 16)
        #expect(decoded.int32 == -32 && decoded.int64 == .min && decoded.float == 0.1 && decoded.double == -0.1)
        #expect(Array(decoded.string.unicodeScalars) == Array("e\u{301}\0".unicodeScalars) && decoded.data == bytes)
        #expect(decoded.date == day && decoded.uuid == uuid && decoded.objectId == objectId)
        #expect(decoded.decimal128 == decimal && decoded.anyValue == .date(day))
        let absent = try expectRoundTrip(OptionalScalars(id: 1))
        #expect(absent.int == nil && absent.string == nil && absent.data == nil && absent.date == nil)
        let present = try expectRoundTrip(
            OptionalScalars(id: 1, bool: false, int8: 3, double: 2, string: "", data: Data(), decimal128: 0))
        #expect(present.bool == false && present.int8 == 3 && present.double == 2 && present.string == "")
        #expect(present.data == Data() && present.decimal128 == 0 && present.float == nil)
    }

    @Test("enums are encoded as their raw values O65 O31 O40") func enums() throws {
        let dog = Dog(name: "Rex", size: .large, bornIn: .germany)
        let text = try json(dog)
        #expect(text.contains("\"size\":\"large\"") && text.contains("\"bornIn\":\"DE\""))
        let decoded = try read(Dog.self, text)
        #expect(decoded.size == .large && decoded.bornIn == .germany && decoded.id == dog.id)
        // 'norway' is the case that the schema declares for unknown raw values.
        #expect(try read(Dog.self, #"{"bornIn": "XX"}"#).bornIn == .norway)
        #expect(try read([Size].self, #"["small"]"#) == [.small] && json([Country.germany]) == #"["DE"]"#)
        #expect(throws: DecodingError.self) { try read(Size.self, #""huge""#) }
    }

    @Test("'AnyRealmValue' values are decoded with their types O65 O32 O40") func anyValues() throws {
        let values: [AnyRealmValue] = [
            .none, .bool(true), .int(1), .double(1), .double(1.5), .float(0.1), .string("1"), .data(bytes), .date(day),
            .decimal128(decimal), .objectId(objectId), .uuid(uuid),
        ]
        let lists = ScalarLists(id: 1, anyValues: values)
        #expect(Array(try expectRoundTrip(lists).anyValues) == values)
        #expect(try json(lists.anyValues).hasPrefix(#"[null,true,1,{"double":1},1.5,"#))
        #expect(throws: DecodingError.self) { try read(AnyRealmValue.self, "{}") }
        #expect(throws: DecodingError.self) { try read(AnyRealmValue.self, #"{"unknown": 1}"#) }
        #expect(try read(AnyRealmValue.self, #"[1, {"map": {"a": null}}]"#) == .list([.int(1), .map(["a": .none])]))
    }

    @Test("lists, sets and maps of every element type are encoded and decoded without loss O65 O30 O40")
    func collections() throws {
        let node = { Node(id: $0) }
        let lists = try expectRoundTrip(
            ScalarLists(
                id: 1, bools: [true, false], ints: [3, 1, 3], int8s: [1], int16s: [2], int32s: [3], int64s: [.max],
                floats: [0.5], doubles: [0.1], strings: ["b", "a"], datas: [bytes], dates: [day], uuids: [uuid],
                objectIds: [objectId], decimal128s: [decimal], sizes: [.best, .poor], levels: [.high],
                nodes: [node(7), node(8)],
                parts: [Part(name: "p", screws: [Screw(length: 4)])]))
        #expect(Array(lists.bools) == [true, false] && Array(lists.ints) == [3, 1, 3] && lists.int64s.first == .max)
        #expect(lists.datas.first == bytes && lists.dates.first == day && lists.decimal128s.first == decimal)
        #expect(Array(lists.sizes) == [.best, .poor] && Array(lists.levels) == [.high])
        #expect(lists.nodes.map(\.id) == [7, 8] && lists.parts.first?.screws.first?.length == 4)
        let optionals = try expectRoundTrip(
            OptionalLists(
                id: 1, bools: [nil, true], ints: [nil], floats: [1, nil], strings: [nil, ""], datas: [nil],
                dates: [nil, day], objectIds: [nil], decimal128s: [nil], sizes: [nil, .good], levels: [nil]))
        #expect(Array(optionals.bools) == [nil, true] && Array(optionals.sizes) == [nil, .good])
        #expect(Array(optionals.dates) == [nil, day] && Array(optionals.strings) == [nil, ""])
        let sets = try expectRoundTrip(
            ScalarSets(id: 1, ints: [3, 1], strings: ["a"], sizes: [.good], nodes: [node(7)]))
        #expect(Array(sets.ints) == [3, 1] && sets.sizes.contains(.good) && sets.nodes.first?.id == 7)
        let maps = try expectRoundTrip(
            ScalarMaps(id: 1, ints: ["": 1, "a.b": 2], dates: ["d": day], levels: ["l": .low], nodes: ["n": node(7)]))
        #expect(maps.ints["a.b"] == 2 && maps.ints[""] == 1 && maps.dates["d"] == day && maps.levels["l"] == .low)
        #expect(maps.nodes["n"]??.id == 7)
        let optionalMaps = try expectRoundTrip(OptionalMaps(id: 1, ints: ["a": nil, "b": 2]))
        #expect(optionalMaps.ints["a"] == .some(nil) && optionalMaps.ints["b"] == 2 && optionalMaps.ints.count == 2)
    }

    @Test("all collections can be encoded, and lists, sets and maps can be decoded O65 O40")
    func separateCollections() throws {
        let test = try TestRealm()
        let nodes = (0..<3).map { Treasure(id: $0, name: "n\($0)") }
        try test.realm.write { test.realm.add(nodes) }
        let text = try json(test.realm.objects(Treasure.self).where { $0.id > 0 })
        #expect(text == #"[{"id":1,"name":"n1"},{"id":2,"name":"n2"}]"#)
        #expect(try read(List<Treasure>.self, text).map(\.name) == ["n1", "n2"])
        #expect(try read(MutableSet<Int>.self, "[1, 2, 1]").count == 2)
        #expect(try read(Map<String>.self, #"{"a": "b"}"#)["a"] == "b")
        try test.realm.write { test.realm.add(Owner(id: 1, treasure: nodes[0])) }
        #expect(try json(nodes[0].owners).contains(#""treasure":{"id":0,"name":"n0"}"#))
    }

    @Test("the encoding of a projection has the names of its properties as keys O65 O7 O40") func projections() throws {
        let test = try TestRealm()
        let node = Node(id: 1, name: "a", children: [Node(id: 2, name: "b"), Node(id: 3, name: "c")])
        node.part = Part(name: "p", weight: 1.5)
        try test.realm.write { test.realm.add(node) }
        let text = try json(NodeProjection(projecting: node))
        for part in [
            #""childNames":["b","c"]"#, #""name":"a""#, #""next":null"#, #""nextName":null"#, #""partWeight":1.5"#,
            #""parents":[]"#, #""nextChildren":null"#,
        ] {
            #expect(text.contains(part), "\(part)")
        }
        let scalars = OptionalScalars(id: 1, int: 5, data: Data([1]), date: day)
        try test.realm.write { test.realm.add(scalars) }
        let projected = try json(test.realm.objects(ScalarsProjection.self))
        #expect(projected == #"[{"bytes":"AQ==","number":5,"text":null,"when":1234.5}]"#)
    }

    @Test("decoding uses defaults for missing keys and ignores unknown keys O65 O10 O35") func defaults() throws {
        let dog = try read(Dog.self, #"{"name": "Rex", "colour": "red", "owner": {"firstName": "Ada"}}"#)
        let plain = Dog()
        #expect(dog.name == "Rex" && dog.favoriteToy == plain.favoriteToy && dog.size == plain.size)
        #expect(dog.owner?.firstName == "Ada" && dog.siblings.isEmpty && dog.realm == nil)
        // A JSON null is decoded as nil.
        #expect(try read(Dog.self, #"{"owner": null, "age": null}"#).owner == nil)
    }

    /// Decodes `text`, and returns the coding path of the `DecodingError` that the decoder throws.
    private func path(_ type: (some Decodable).Type, _ text: String) -> [String] {
        do {
            _ = try read(type, text)
            return []
        } catch let error as DecodingError {
            switch error {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                .dataCorrupted(let context):
                return context.codingPath.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }
            @unknown default: return ["?"]
            }
        } catch {
            return ["\(error)"]
        }
    }

    @Test("decoding a wrong value throws an error with the coding path of the value O65 O10") func wrongValues() {
        #expect(path(Node.self, #"{"id": "one"}"#) == ["id"])
        #expect(path(Node.self, #"{"id": null}"#) == ["id"])
        #expect(path(Scalars.self, #"{"int8": 300}"#) == ["int8"])
        #expect(path(Dog.self, #"{"size": "huge"}"#) == ["size"])
        #expect(path(Node.self, #"{"next": {"next": {"amount": true}}}"#) == ["next", "next", "amount"])
        #expect(path(Node.self, #"{"next": 5}"#) == ["next"])
        #expect(path(Node.self, #"{"children": [{"id": 1}, {"id": []}]}"#) == ["children", "1", "id"])
        #expect(path(ScalarLists.self, #"{"ints": [1, "x"]}"#) == ["ints", "1"])
        #expect(path(ScalarLists.self, #"{"ints": [null]}"#) == ["ints", "0"])
        #expect(path(ScalarLists.self, #"{"sizes": ["huge"]}"#) == ["sizes", "0"])
        #expect(path(ScalarMaps.self, #"{"ints": {"a": 1, "b": 1.5}}"#) == ["ints", "b"])
        #expect(path(Scalars.self, #"{"objectId": "12"}"#) == ["objectId"])
        #expect(path(Scalars.self, #"{"decimal128": "one"}"#) == ["decimal128"])
    }

    @Test("encoding throws for a cycle or a very long chain of links, but not for an object linked twice O65 O40")
    func cycles() throws {
        let (first, second) = (Node(id: 1), Node(id: 2))
        first.next = second
        first.children.append(second)
        #expect(try json(first).contains(#""id":2"#))
        second.next = first
        func reason(_ node: Node) -> String {
            do {
                return try json(node)
            } catch EncodingError.invalidValue(_, let context) {
                return context.codingPath.map(\.stringValue).joined(separator: ".") + ": " + context.debugDescription
            } catch {
                return "\(error)"
            }
        }
        #expect(reason(first).contains("the links form a cycle at the 'Node'"))
        second.next = nil
        second.children.append(first)
        #expect(reason(first).contains("the links form a cycle at the 'Node'"))
        second.children.removeAll()
        second.named["x"] = first
        #expect(reason(second).contains("named.x"))
        let chain = (0..<20_000).map { Node(id: $0) }
        for (node, next) in zip(chain, chain.dropFirst()) { node.next = next }
        #expect(reason(chain[0]).contains("the chain of links is longer than 250 objects"))
        #expect(try read(Node.self, json(chain[19_800])).next?.next?.id == 19_802)
        for node in chain { node.next = nil }
    }
}
