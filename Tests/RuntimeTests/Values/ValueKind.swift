import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// One kind of value, and the properties of this kind in the conformance schema.
struct ValueKind<Value: OrderedValue & RealmCollectionValue & Hashable>: Sendable {
    /// The name of the property of `Scalars` and `OptionalScalars`, or of `EnumHolder`.
    let name: String
    /// The name of the property of the classes that have collections, such as `ScalarLists`.
    let elements: String
    /// The type as it is written in the schema of a generated class.
    let typeText: String
    /// Different values in ascending order.
    let values: @Sendable () -> [Value]
    var isEnum = false

    init(
        _ name: String, _ elements: String, _ typeText: String, isEnum: Bool = false,
        _ values: @escaping @Sendable () -> [Value]
    ) {
        (self.name, self.elements, self.typeText, self.isEnum, self.values) = (name, elements, typeText, isEnum, values)
    }

    /// False for `AnyRealmValue`, whose minimum and maximum `AnyValueCollectionTests` checks.
    var checksMinimumAndMaximum: Bool { !(Value.self is AnyRealmValue.Type) }

    /// False for `AnyRealmValue`, which is never optional.
    var canBeOptional: Bool { !(Value.self is AnyRealmValue.Type) }
    /// The name of the optional property. Only `EnumHolder` has separate names for optional properties.
    var optionalName: String { isEnum ? "optional" + name.prefix(1).uppercased() + name.dropFirst() : name }

    /// Returns the stored form of an untyped value, for comparisons.
    func stored(_ value: Any?) -> StoredValue? { AnyRealmValue(untyped: value) { $0 }?._stored }
}

/// A type-erased `ValueKind`.
protocol AnyValueKind: Sendable, CustomTestStringConvertible {
    func checkProperties() throws
    func checkQueries() throws
    func checkOrder() throws
    func checkLists() throws
    func checkSets() throws
    func checkMaps() throws
    func checkElementQueries() throws
    func checkCopies() throws
    func checkUpdates() throws
    func checkMigration() throws
}

extension ValueKind: AnyValueKind {
    var testDescription: String { typeText }
}

private func day(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }

private func uuid(_ first: UInt8, _ last: UInt8) -> UUID {
    UUID(uuid: (first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last))
}

/// Every kind of value that a property can have, except objects and collections.
let allKinds: [any AnyValueKind] = [
    ValueKind("bool", "bools", "Bool") { [false, true] },
    ValueKind("int", "ints", "Int") { [Int.min, -1, 0, 7, .max] },
    ValueKind("int8", "int8s", "Int8") { [Int8.min, -1, 0, .max] },
    ValueKind("int16", "int16s", "Int16") { [Int16.min, -1, 0, .max] },
    ValueKind("int32", "int32s", "Int32") { [Int32.min, -1, 0, .max] },
    ValueKind("int64", "int64s", "Int64") { [Int64.min, -1, 0, .max] },
    ValueKind("float", "floats", "Float") { [-Float.infinity, -1.5, 0, 0.1, .greatestFiniteMagnitude] },
    ValueKind("double", "doubles", "Double") { [-Double.infinity, -1.5, 0, 0.1, .greatestFiniteMagnitude] },
    ValueKind("string", "strings", "String") { ["", "A", "a", "a\0", "e\u{301}", "\u{1F985}"] },
    ValueKind("data", "datas", "Data") { [Data(), Data([0]), Data([0, 1]), Data([9, 9, 9, 9, 9, 9, 9, 9])] },
    ValueKind("date", "dates", "Date") { [.distantPast, day(0), day(0.1), .distantFuture] },
    ValueKind("decimal128", "decimal128s", "Decimal128") {
        ["-1e6144", "-1.5", "0", "1e-6176", "1234567890123456789012345678901234"].map {
            (try? Decimal128(string: $0)) ?? .nan
        }
    },
    ValueKind("objectId", "objectIds", "ObjectId") {
        [.zero, ObjectId("00000000000000000000000a"), ObjectId("ffffffffffffffffffffffff")]
    },
    ValueKind("uuid", "uuids", "UUID") { [uuid(0, 0), uuid(0, 1), uuid(255, 0)] },
    ValueKind("grade", "sizes", "enum:String", isEnum: true) { [Grade.best, .good, .poor] },
    ValueKind("level", "levels", "enum:Int", isEnum: true) { [Level.low, .middle, .high] },
    ValueKind("anyValue", "anyValues", "AnyRealmValue") {
        [AnyRealmValue.int(-1), .double(0.5), .float(1), .int(2), .decimal128(3)]
    },
]
