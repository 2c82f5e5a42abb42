import ConformanceModels
import Foundation
import MartletEngine
import MartletSQLite
import MartletTestSupport
import MartletValues
import ModelTesting
import Testing

@testable import Martlet

/// Stores random values in random cells of a file, and reads each value through a random function of the API. Reading a
/// value that fits the schema must not trap. Reading any other value must trap with a message about the value.
@Suite("random damage") struct RandomDamageTests {
    /// The number of random values. The environment variable `MARTLET_DAMAGE_ROUNDS` overrides the default.
    static let rounds = Int(ProcessInfo.processInfo.environment["MARTLET_DAMAGE_ROUNDS"] ?? "") ?? 30

    @Test("a random value in a random cell is read without a trap, or is reported as damage D93", arguments: 0..<rounds)
    func cell(_ seed: Int) async throws {
        let damage = Damage(seed: UInt64(seed))
        let file = try DamagedFile()
        try file.damage(damage.sql)
        let expected = try damage.expectation(in: file.url.path)
        let path = file.url.path
        let condition: ExitTest.Condition = expected == .fits ? .success : .failure
        let result = await #expect(processExitsWith: condition, observing: [\.standardErrorContent], "\(damage)") {
            [seed = seed as Int, path = path as String] in
            alarm(60)
            var configuration = Realm.Configuration(fileURL: URL(filePath: path))
            configuration.scheduler = ManualScheduler()
            try Damage(seed: UInt64(seed)).read(Realm(configuration: configuration))
        }
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        switch expected {
        case .fits: break
        case .withoutCase: #expect(output.contains("[enumWithoutCase]"), "\(damage): \(output.prefix(600))")
        case .damaged:
            #expect(output.contains("[readFailed]"), "\(damage): \(output.prefix(600))")
            #expect(output.contains("\(damage.type).\(damage.property)"), "\(damage): \(output.prefix(600))")
        }
        withExtendedLifetime(file) {}
    }

    @Test(
        "operations on a file with random damage succeed, throw, or trap with a message D72 D93",
        arguments: 0..<rounds)
    func anywhere(_ seed: Int) async throws {
        let file = try DamagedFile()
        let sql = try RandomFileDamage.sql(UInt64(seed), in: file.url.path)
        // A statement that SQLite rejects damages nothing.
        guard (try? file.damage(sql)) != nil else { return }
        let path = file.url.path
        let result = await #expect(processExitsWith: .exitCode(7), observing: [\.standardErrorContent], "\(sql)") {
            [path = path as String] in
            alarm(60)
            RandomFileDamage.exitAtTraps()
            try RandomFileDamage.readAll(path)
            exit(7)
        }
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(!output.contains("trapped") || output.contains("Martlet: "), "\(sql): \(output.prefix(600))")
        withExtendedLifetime(file) {}
    }
}

/// A cell, the value that the test stores in it, and the way in which the test reads it.
private struct Damage: CustomStringConvertible {
    /// The expected result of reading the value: success (`fits`), a trap because the value is damaged (`damaged`), or
    /// a trap because the enum has no case with this raw value (`withoutCase`).
    enum Expectation { case fits, damaged, withoutCase }

    private enum Reading: CaseIterable {
        case typed, found, dynamic, frozen, sorted, byName, described, encoded, frozenFound, inWrite
    }

    let type: String
    let property: String
    private let value: String
    private let reading: Reading

    private static let columns: [String: [String]] = [
        "Scalars": scalars + ["anyValue"], "OptionalScalars": scalars,
        "EnumHolder": [
            "grade", "level", "state", "flavor", "optionalGrade", "optionalLevel", "optionalState", "optionalFlavor",
        ],
        "Node": ["name", "amount", "next"],
    ]

    private static let scalars = [
        "bool", "int", "int8", "int16", "int32", "int64", "float", "double", "string", "data", "date", "uuid",
        "objectId", "decimal128",
    ]

    private static let values = [
        "NULL", "0", "1", "2", "-1", "5", "127", "128", "300", "-40000", "5000000000", "9223372036854775807",
        "-9223372036854775808", "1.5", "2.0", "1e300", "-1e-300", "9e999", "''", "'abc'", "'good'", "'o'", "'5'",
        "'é'", "CAST(x'ff' AS TEXT)", "CAST(x'61c3' AS TEXT)", "CAST(x'6100' AS TEXT)", "x''", "x'00'", "x'80'",
        "x'bf'", "x'99'", "x'0101'", "x'0102'", "x'0461'", "x'0a'", "x'0a00'", "x'0aff'", "x'0b0000'", "zeroblob(8)",
        "zeroblob(9)", "zeroblob(12)", "zeroblob(16)", "zeroblob(17)", "zeroblob(19)", "x'040102030405060708090a0b'",
        "x'81ffffffffffffffffffffffffffffffffffff'", "x'8140010000314dc6448d9338c15b0a00000000'",
        "x'09000000630000000000000001'",
    ]

    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        type = Self.columns.keys.sorted().randomElement(using: &random) ?? "Scalars"
        property = Self.columns[type]?.randomElement(using: &random) ?? "int"
        value = Self.values.randomElement(using: &random) ?? "NULL"
        reading = Reading.allCases.randomElement(using: &random) ?? .typed
    }

    var description: String { "\(sql), read by \(reading)" }

    var sql: String { "UPDATE \(type) SET \"\(property)\" = \(value) WHERE id = 1" }

    // MARK: Expectation

    /// The expectation for the value that the file contains after the damage.
    func expectation(in path: String) throws -> Expectation {
        let connection = try Connection(ConnectionOptions(path: path))
        defer { connection.close() }
        let stored = try connection.value("SELECT \"\(property)\" FROM \(type) WHERE id = 1") ?? .null
        guard case .text(let hex)? = try connection.value("SELECT hex(\"\(property)\") FROM \(type) WHERE id = 1")
        else {
            return .damaged
        }
        return expectation(of: stored, hex)
    }

    private var isOptional: Bool {
        type == "OptionalScalars" || property.hasPrefix("optional") || ["next", "anyValue"].contains(property)
    }

    private func expectation(of stored: SQLValue, _ hex: String) -> Expectation {
        if stored == .null { return isOptional ? .fits : .damaged }
        if case .text = stored {
            let bytes = stride(from: 0, to: hex.count, by: 2).map { offset in
                UInt8(hex.dropFirst(offset).prefix(2), radix: 16) ?? 0
            }
            if String(validating: bytes, as: UTF8.self) == nil { return .damaged }
        }
        if type == "EnumHolder" { return expectationOfEnum(stored) }
        let fits: Bool =
            switch (property, stored) {
            case ("bool", .integer(let number)): 0...1 ~= number
            case ("int", .integer), ("int64", .integer), ("string", .text), ("name", .text), ("data", .blob): true
            case ("int8", .integer(let number)): -128...127 ~= number
            case ("int16", .integer(let number)): -32_768...32_767 ~= number
            case ("int32", .integer(let number)): -2_147_483_648...2_147_483_647 ~= number
            case ("double", .real), ("date", .real), ("amount", .real): true
            case ("float", .real(let number)): abs(number) < 1e39 || number.isInfinite
            case ("uuid", .blob(let bytes)): bytes.count == 16
            case ("objectId", .blob(let bytes)): bytes.count == 12
            // The only blobs in `values` that encode a decimal: no bytes or 80 (zero), BF (infinity), and 81400100003…
            // (one).
            case ("decimal128", .blob): ["", "80", "BF"].contains(hex) || hex.hasPrefix("81400100003")
            case ("anyValue", .blob):
                ["0101", "0461", "0A", "0A00"].contains(hex) || (hex.hasPrefix("04") && hex.count == 24)
            case ("anyValue", _): true
            case ("next", .integer(let key)): 1...4 ~= key
            default: false
            }
        return fits ? .fits : .damaged
    }

    private func expectationOfEnum(_ stored: SQLValue) -> Expectation {
        let isText = property.lowercased().hasSuffix("grade") || property.lowercased().hasSuffix("state")
        // If no case has the raw value, 'state' and 'flavor' return their `unknown` case, and optional enums return
        // nil.
        let isReadable: Bool
        switch stored {
        case .text(let text) where isText: isReadable = property == "state" || isOptional || text == "good"
        case .integer(let number) where !isText:
            isReadable = property == "flavor" || isOptional || number == 1 || number == 5
        default: return .damaged
        }
        return isReadable ? .fits : .withoutCase
    }

    // MARK: Reading

    func read(_ realm: Realm) throws {
        switch type {
        case "Scalars": try read(realm, Scalars.self)
        case "OptionalScalars": try read(realm, OptionalScalars.self)
        case "EnumHolder": try read(realm, EnumHolder.self)
        default: try read(realm, Node.self)
        }
    }

    private func read<Model: Object & PrimaryKeyed<Int> & Encodable>(_ realm: Realm, _: Model.Type) throws {
        let all = realm.objects(Model.self)
        let found = realm.object(ofType: Model.self, forPrimaryKey: 1)
        switch reading {
        case .typed: for object in all { use(object[property]) }
        case .found: use(found?[property])
        case .dynamic: for object in realm.dynamicObjects(type) { use(object[dynamicMember: property]) }
        case .frozen: for object in realm.freeze().objects(Model.self) { use(object[property]) }
        case .sorted where property != "next":
            for object in all.sorted(byKeyPath: property) { use(object[property]) }
        case .sorted, .byName: use(found?.value(forKey: property))
        case .described:
            use(found?.description)
            use(found?[property])
        case .encoded:
            use(found?[property])
            _ = try? JSONEncoder().encode(found)
        case .frozenFound: use(realm.freeze().object(ofType: Model.self, forPrimaryKey: 1)?[property])
        case .inWrite:
            try realm.write {
                for object in all where (object["id"] as? Int) == 1 { use(object[property]) }
            }
        }
    }

    // Reads a value completely. If the value is a link, also reads a property of its target.
    private func use(_ value: Any?) {
        switch value {
        case let node as Node: print(node.name)
        case let object as DynamicObject where type == "Node": print(object.name ?? "")
        case let any as AnyRealmValue: print(any.object(Node.self)?.name ?? "\(any)")
        default: print(value as Any)
        }
    }
}
