import ConformanceModels
import Foundation
import Martlet
import MartletTestSupport
import Testing

@Suite struct StringQueryTests {
    private static let texts: [String?] = [
        nil, "", "Rex", "rex", "REXÉ", "re\u{301}x", "r\u{e9}x", "a\0b", "a%b", "a_b", "'rex'", "\u{1F985}x", "reex",
    ]

    private func matches<Condition: QueryConvertible<OptionalScalars>>(
        _ condition: (OptionalScalars.RootFields) -> Condition
    ) throws -> [String] {
        let test = try TestRealm()
        try test.realm.write {
            for (id, text) in Self.texts.enumerated() { test.realm.add(OptionalScalars(id: id, string: text)) }
        }
        return test.realm.objects(OptionalScalars.self).where(condition).map { $0.string ?? "nil" }
    }

    private func bytes(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    @Test("contains, starts(with:), ends(with:) and equals compare by code point O79 O50") func plain() throws {
        for pattern in ["r", "re", "x", "e", "\u{301}", "\0", "%", "_", "'", "", "\u{1F985}", "zzz", "a\0b", "b"] {
            let present = Self.texts.compactMap { $0 }
            func expected(_ holds: (ArraySlice<UInt8>, [UInt8]) -> Bool) -> [[UInt8]] {
                present.map { Array($0.utf8) }.filter { holds($0[...], Array(pattern.utf8)) }
            }
            #expect(
                bytes(try matches { $0.string.contains(pattern) })
                    == expected { text, pattern in
                        pattern.isEmpty || text.indices.contains { text[$0...].starts(with: pattern) }
                    })
            #expect(bytes(try matches { $0.string.starts(with: pattern) }) == expected { $0.starts(with: $1) })
            #expect(
                bytes(try matches { $0.string.ends(with: pattern) })
                    == expected { $0.reversed().starts(with: $1.reversed()) })
            #expect(bytes(try matches { $0.string.equals(pattern) }) == expected { Array($0) == $1 })
        }
    }

    @Test("canonically equivalent strings differ unless diacritics are ignored O79 O34") func equivalence() throws {
        #expect(try matches { $0.string == "r\u{e9}x" }.map(\.unicodeScalars.count) == [3])
        #expect(try matches { $0.string == "re\u{301}x" }.map(\.unicodeScalars.count) == [4])
        #expect(try matches { $0.string.equals("rex", options: .diacriticInsensitive) }.count == 3)
    }

    @Test("string options ignore case and diacritics O79 O50") func options() throws {
        #expect(try matches { $0.string.equals("REX", options: .caseInsensitive) } == ["Rex", "rex"])
        #expect(
            try matches { $0.string.contains("EX", options: .caseInsensitive) } == [
                "Rex", "rex", "REXÉ", "'rex'", "reex",
            ])
        #expect(try matches { $0.string.starts(with: "rE", options: .caseInsensitive) }.contains("REXÉ"))
        #expect(
            try matches { $0.string.ends(with: "xe", options: [.caseInsensitive, .diacriticInsensitive]) } == ["REXÉ"])
        #expect(try matches { $0.string.contains("", options: .caseInsensitive) }.count == Self.texts.count - 1)
        #expect(try matches { $0.string.notEquals("rex", options: .caseInsensitive) }.count == Self.texts.count - 2)
        #expect(try matches { $0.string.notEquals("rex") }.contains("nil"))
    }

    @Test("in like(_:), ? matches one character, and * any number of characters O79 O50") func like() throws {
        #expect(try matches { $0.string.like("r?x") }.count == 2)
        #expect(try matches { $0.string.like("r*x") }.count == 4)
        #expect(try matches { $0.string.like("*") }.count == Self.texts.count - 1)
        #expect(try matches { $0.string.like("") } == [""])
        #expect(try matches { $0.string.like("a?b") }.count == 3)
        #expect(try matches { $0.string.like("a%b") } == ["a%b"])
        #expect(try matches { $0.string.like("?x") } == ["\u{1F985}x"])
        #expect(try matches { $0.string.like("R*X", caseInsensitive: true) }.count == 5)
        #expect(try matches { $0.string.like("****************e****************x") }.count == 4)
    }

    @Test("in like(_:), a wildcard after a backslash matches only itself O79 O50") func escapes() throws {
        let test = try TestRealm()
        let texts = ["a*b", "a?b", "axb", "a\\b", "a\\xb", "a\\"]
        try test.realm.write {
            for (id, text) in texts.enumerated() {
                test.realm.add(OptionalScalars(id: id, string: text, data: Data(text.utf8)))
            }
        }
        let all = test.realm.objects(OptionalScalars.self)
        let cases: [(String, [Int])] = [
            ("a\\*b", [0]), ("a\\?b", [1]), ("a?b", [0, 1, 2, 3]), ("a\\\\b", [3]), ("a\\\\*", [3, 4, 5]),
            ("a\\b", [3]),
            ("a\\", [5]), ("*\\", [5]),
        ]
        for (pattern, ids) in cases {
            #expect(all.where { $0.string.like(pattern) }.map(\.id) == ids, "\(pattern)")
            #expect(all.where { $0.data.like(Data(pattern.utf8)) }.map(\.id) == ids, "\(pattern) of data")
            #expect(all.filter("string LIKE %@", pattern).map(\.id) == ids, "\(pattern) as text")
        }
    }

    @Test("contains, starts(with:), ends(with:) and equals compare data O79 O50") func data() throws {
        let test = try TestRealm()
        let bytes: [[UInt8]?] = [nil, [], [0], [0, 1, 0], [1, 0], [255, 0, 1]]
        try test.realm.write {
            for (id, bytes) in bytes.enumerated() {
                test.realm.add(OptionalScalars(id: id, data: bytes.map { Data($0) }))
            }
        }
        let all = test.realm.objects(OptionalScalars.self)
        #expect(all.where { $0.data.contains(Data()) }.map(\.id) == [1, 2, 3, 4, 5])
        #expect(all.where { $0.data.contains(Data([0, 1])) }.map(\.id) == [3, 5])
        #expect(all.where { $0.data.starts(with: Data([0])) }.map(\.id) == [2, 3])
        #expect(all.where { $0.data.ends(with: Data([1, 0])) }.map(\.id) == [3, 4])
        #expect(
            all.where { $0.data.equals(Data()) }.map(\.id) == [1] && all.where { $0.data.notEquals(Data()) }.count == 5)
    }

    @Test("CONTAINS, BEGINSWITH, ENDSWITH, LIKE and options search texts and data in AnyRealmValue values O79 O80 O51")
    func any() throws {
        let test = try TestRealm()
        let bytes = Data([1, 4, 0xff, 4])
        let values: [AnyRealmValue] = [
            .data(bytes), .string("a\u{1}B"), .data(Data()), .int(4), .none, .uuid(UUID()), .list([.data(bytes)]),
            .data(Data([4])),
        ]
        try test.realm.write {
            for (id, value) in values.enumerated() {
                test.realm.add(Scalars(id: id, data: bytes, anyValue: value))
                test.realm.add(ScalarLists(id: id, anyValues: [value]))
            }
        }
        let all = test.realm.objects(Scalars.self), lists = test.realm.objects(ScalarLists.self)
        func ids(_ relation: String, _ argument: Any) throws -> [Int] {
            let found = try all.filter(Realm.Predicate(parsing: "anyValue \(relation) %@", arguments: [argument])).map(
                \.id)
            let inLists = try lists.filter(
                Realm.Predicate(parsing: "ANY anyValues \(relation) %@", arguments: [argument])
            ).map(\.id)
            #expect(found == inLists)
            return found
        }
        #expect(try ids("CONTAINS", Data([0xff])) == [0] && ids("CONTAINS", Data()) == [0, 2, 7])
        #expect(try ids("BEGINSWITH", Data([1, 4])) == [0] && ids("BEGINSWITH", Data([4])) == [7])
        #expect(try ids("ENDSWITH", Data([4])) == [0, 7] && ids("LIKE", Data([0x2a, 4])) == [0, 7])
        #expect(try ids("CONTAINS", AnyRealmValue.data(Data([4, 0xff]))) == [0] && ids("CONTAINS", 4) == [])
        #expect(try ids("CONTAINS[c]", "b") == [1] && ids("==[c]", "A\u{1}b") == [1] && ids("==[c]", Data([4])) == [7])
        #expect(try ids("IN[c]", ["A\u{1}b", Data([4])] as [Any]) == [1, 7])
        #expect(all.filter("data ENDSWITH anyValue").map(\.id) == [0, 2, 7])
        #expect(all.filter("anyValue CONTAINS data").map(\.id) == [0])
    }

    @Test("strings sort by code point O79 O52") func order() throws {
        let test = try TestRealm()
        try test.realm.write {
            for (id, text) in Self.texts.enumerated() { test.realm.add(OptionalScalars(id: id, string: text)) }
        }
        let sorted = test.realm.objects(OptionalScalars.self).sorted(byKeyPath: "string").map(\.string)
        #expect(sorted.first == .some(nil))
        #expect(
            bytes(sorted.compactMap { $0 })
                == bytes(Self.texts.compactMap { $0 }).sorted { $0.lexicographicallyPrecedes($1) })
    }
}
