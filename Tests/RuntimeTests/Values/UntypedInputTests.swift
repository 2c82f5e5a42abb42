import ConformanceModels
import Foundation
import MartletTestSupport
import MartletValues
import Testing

@testable import Martlet

@Suite("untyped values: numbers, keys and enums")
struct UntypedInputTests {
    @Test("maps keep keys that differ only in their Unicode normalization O44 O58")
    func keys() throws {
        let test = try TestRealm()
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        let maps = ScalarMaps(id: 1)
        maps.ints[composed] = 1
        maps.ints[decomposed] = 2
        try test.realm.write {
            test.realm.add(maps)
            test.realm.create(ScalarMaps.self, value: ["id": 2, "ints": maps.ints] as [String: Any])
        }
        #expect(test.realm.objects(ScalarMaps.self).map(\.ints.count) == [2, 2])
        #expect(ScalarMaps(value: maps).ints.count == 2)
        try test.realm.write { maps.ints.removeObjects(for: [composed, decomposed]) }
        #expect(maps.ints.isEmpty)
    }

    @Test("unsigned numbers of JSON keep their value O58")
    func unsigned() throws {
        let test = try TestRealm()
        let json = try JSONSerialization.jsonObject(
            with: Data(#"{"id": 1, "double": 12345678901234567890, "decimal128": 12345678901234567890}"#.utf8))
        try test.realm.write { test.realm.create(OptionalScalars.self, value: json) }
        let stored = try #require(test.realm.objects(OptionalScalars.self).first)
        #expect(stored.double == Double("12345678901234567890"))
        #expect(stored.decimal128 == Decimal128("12345678901234567890"))
    }

    @Test("an integer that does not fit the type of the property traps O58")
    func tooLarge() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let json = try JSONSerialization.jsonObject(with: Data(#"{"id": 1, "int": 18446744073709551615}"#.utf8))
            try test.realm.write { test.realm.create(OptionalScalars.self, value: json) }
        }
        let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
        #expect(text.contains("OptionalScalars.int"))
    }

    @Test("an optional element whose raw value has no case is read as nil O31")
    func unknownElement() throws {
        let elementContext = ElementContext(context: try TestRealm().realm.context)
        #expect(Grade?._element(StoredValue(.text("newer")), elementContext) == nil)
        #expect(Int?._element(StoredValue(.integer(3)), elementContext) == 3)
    }
}
