import MartletValues
import Testing

@testable import MartletEngine

@Suite("searches in encoded elements") struct EncodedSearchTests {
    private func property(
        _ element: ElementType, _ kind: PropertyKind = .list, isOptional: Bool = false
    ) -> PropertySchema {
        PropertySchema(name: "a", index: 0, kind: kind, element: element, isOptional: isOptional)
    }

    private func search(
        _ value: SQLValue, _ property: PropertySchema, _ elements: [SQLValue], count: Int? = nil, dropping: Int = 0
    ) -> EncodedSearch.Outcome? {
        let bytes = ElementCodec.encode(elements).dropLast(dropping)
        return Array(bytes).withUnsafeBytes {
            EncodedSearch(for: value, in: property)?.search($0, count: count ?? elements.count)
        }
    }

    @Test("the bytes of a number inside another element are not found") func alignment() {
        let datas = property(.scalar(.data))
        let inner = SQLValue.blob(ElementCodec.encode([.blob([7])]))
        #expect(search(.blob([7]), datas, [inner, .blob([7])]) == .found(1))
        #expect(search(.blob([7]), datas, [inner]) == .absent)
        let numbers = property(.scalar(.int), isOptional: true)
        // Nulls have one byte, so the numbers after them are not at multiples of 9 bytes.
        #expect(search(.integer(5), numbers, [.null, .integer(0x0500_0000_0000_0001), .integer(5)]) == .found(2))
        #expect(search(.null, numbers, [.integer(0), .null]) == .found(1))
        #expect(search(.null, numbers, [.integer(0)]) == .absent)
    }

    @Test("a search in a map compares keys only, not values") func keys() {
        let map = property(.scalar(.string), .map)
        #expect(search(.text("b"), map, [.text("a"), .text("b"), .text("b"), .null]) == .found(2))
        #expect(search(.text("b"), map, [.text("a"), .text("b")]) == .absent)
        #expect(search(.text("b"), map, [.text("a"), .text("b"), .text("b")]) == .undecided)
        #expect(search(.text("b"), map, [.integer(1), .text("b")]) == .undecided)
    }

    @Test("if elements do not match the schema, the search is undecided, and the elements must be decoded D93")
    func damage() {
        let links = property(.scalar(.int))
        #expect(search(.integer(1), links, [.integer(1), .real(1)]) == .undecided)
        #expect(search(.integer(1), links, [.integer(1), .null]) == .undecided)
        #expect(search(.integer(1), links, [.integer(1), .integer(2)], count: 1) == .undecided)
        #expect(search(.integer(1), links, [.integer(1), .integer(2)], count: 3) == .undecided)
        #expect(search(.integer(1), links, [.integer(1), .integer(2)], dropping: 1) == .undecided)
        let texts = property(.scalar(.string))
        #expect(search(.text("a"), texts, [.text("a"), .text("abc")], dropping: 1) == .undecided)
        #expect(search(.text("a"), texts, [.text("a"), .integer(1)]) == .undecided)
        let small = property(.scalar(.int8))
        #expect(search(.integer(1), small, [.integer(1), .integer(128)]) == .undecided)
        let uuids = property(.scalar(.uuid))
        #expect(search(.blob([UInt8](repeating: 0, count: 16)), uuids, [.blob([1])]) == .undecided)
    }

    @Test("values with several stored forms are not searched for in the encoded bytes") func forms() {
        let doubles = property(.scalar(.double))
        let negativeZero = FloatingSpecials.encodedElement(.real(-0.0))
        #expect(search(.real(0), doubles, [.real(0)]) == nil && search(negativeZero, doubles, [.real(0)]) == nil)
        #expect(search(.real(1), doubles, [negativeZero, .real(1)]) == .found(1))
        #expect(search(.integer(1), property(.scalar(.any), .set), [.integer(1)]) == nil)
        #expect(search(.real(1), property(.scalar(.float)), [.real(1)]) == nil)
        #expect(search(.blob([]), property(.scalar(.decimal128)), [.blob([])]) == nil)
    }
}
