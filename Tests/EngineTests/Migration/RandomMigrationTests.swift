import Foundation
import MartletSQLite
import MartletValues
import ModelTesting
import Testing

@testable import MartletEngine

/// Migrates random files between random schemas, and checks invariants that must hold after every migration.
@Suite("random migrations")
struct RandomMigrationTests {
    private static let types = ["Ant", "Bee"]
    private static let kinds = [
        "Int", "Int?", "Int8", "String", "String?", "Double", "Bool", "List<Int>", "List<String>", "Set<Int>",
        "Set<String>",
        "Map<Int>", "link:Ant?", "link:Bee?", "List<link:Ant>", "List<link:Bee>", "Set<link:Ant>", "Map<link:Bee?>",
    ]

    private typealias Property = (name: String, kind: String)

    private func properties(_ random: inout SeededRandom) -> [Property] {
        ["p", "q", "r", "s"].filter { _ in !random.isTrue(oneIn: 6) }.map { name in
            (name, name == "p" && random.isTrue(oneIn: 2) ? "Int" : Self.kinds.randomElement(using: &random) ?? "Int")
        }
    }

    /// Changes the properties at random. Most properties stay as they are. Some are removed, some change to a type to
    /// which some of their values can be converted, and one may be added.
    private func changed(_ properties: [Property], _ random: inout SeededRandom) -> [Property] {
        var changed = properties.filter { _ in !random.isTrue(oneIn: 8) }.map { property -> Property in
            guard random.isTrue(oneIn: 3), !property.kind.contains("link:") else { return property }
            let kinds =
                property.kind.contains("<")
                ? ["List<Int>", "List<String>", "Set<String>"]
                : ["Int", "Int?", "Int8", "String", "String?", "Double", "List<Int>", "Set<String>"]
            return (property.name, kinds.randomElement(using: &random) ?? property.kind)
        }
        if random.isTrue(oneIn: 3) { changed.append(("t", Self.kinds.randomElement(using: &random) ?? "Int")) }
        return changed
    }

    private func facts(_ name: String, _ properties: [Property], _ random: inout SeededRandom) -> String {
        let canBeKey = properties.first.map { $0.name == "p" && ($0.kind == "Int" || $0.kind == "String") } ?? false
        let key = canBeKey && random.isTrue(oneIn: 2) ? "\nprimaryKey p" : ""
        return "object \(name)\(key)" + properties.map { "\nproperty \($0.name) \($0.kind)" }.joined()
    }

    private func schemas(_ random: inout SeededRandom) -> (old: [String], new: [String]) {
        let before = Self.types.map { _ in properties(&random) }
        let after = before.map { changed($0, &random) }
        return (
            zip(Self.types, before).map { facts($0, $1, &random) },
            zip(Self.types, after).map { facts($0, $1, &random) }
        )
    }

    /// The key of the row with this number. Integer primary keys are ten times the number.
    private func key(_ row: Int, _ type: String, _ schema: DatabaseSchema) -> ObjectKey {
        ObjectKey(schema[type]?.type.hasIntegerKey == true ? row * 10 : row)
    }

    /// A random value: a number, or a text that is usually a number. Links contain keys of existing rows.
    private func value(
        _ property: PropertySchema, _ row: Int, _ rows: Int, _ schema: DatabaseSchema, _ random: inout SeededRandom
    ) -> SQLValue {
        if property.isOptional, !property.isLink, Int.random(in: 0..<3, using: &random) == 0 { return .null }
        let number = property.name == "p" ? row * 10 : Int.random(in: 0..<2, using: &random)
        switch property.element {
        case .scalar(.bool): return .integer(number == 0 ? 0 : 1)
        case .link(let target): return .integer(key(random.number(1..<rows + 1), target, schema))
        case .scalar(.string):
            return .text(random.isTrue(oneIn: 100) ? "word \(row)" : "\(number)")
        case .scalar(.double): return .real(Double(number))
        default: return .integer(Int64(number))
        }
    }

    private func fill(_ process: VirtualProcess, rows: Int, _ random: inout SeededRandom) throws {
        try process.write { transaction in
            let schema = transaction.coordinator.schema
            for name in Self.types {
                guard let table = schema[name] else { continue }
                for row in 1...rows {
                    let columns = table.type.properties.filter(\.isColumn)
                    let values = columns.map { value($0, row, rows, schema, &random) }
                    try transaction.insert(name, values)
                    for property in table.type.properties where property.isCollection {
                        var elements: [SQLValue] = []
                        for number in 0..<Int.random(in: 0..<4, using: &random) {
                            if property.kind == .map { elements.append(.text("k\(number)")) }
                            let element = value(property, number + 1, rows, schema, &random)
                            if property.kind != .set || !elements.contains(element) { elements.append(element) }
                        }
                        try transaction.append(elements, to: property.name, of: name, key(row, name, schema))
                    }
                }
            }
        }
        process.handle = nil
    }

    /// The contents of all tables in a fixed order: one text for each row.
    private func dump(_ process: VirtualProcess) throws -> [String] {
        let tables = try process.column(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'martlet%' AND name NOT LIKE 'sqlite%' ORDER BY 1"
        )
        return try tables.flatMap { table -> [String] in
            guard case .text(let name) = table else { return [] }
            return try process.read { connection in
                let statement = try connection.statement("SELECT * FROM \(SQLText.identifier(name))")
                var rows: [String] = []
                while try statement.step() {
                    rows.append("\(name) \((0..<statement.columnCount).map { statement.value($0) })")
                }
                return rows.sorted()
            }
        }
    }

    private func names(_ process: VirtualProcess) throws -> [SQLValue] {
        try process.column("SELECT type || ' ' || name FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' ORDER BY 1")
    }

    /// Checks links and collections. Returns all errors.
    private func errors(_ process: VirtualProcess) throws -> [String] {
        var errors: [String] = []
        let schema = process.coordinator.schema
        for table in schema.tables.values {
            for column in table.layout.columns where table.type.properties[column.property].isLink {
                guard let target = table.type.properties[column.property].element.target.flatMap({ schema[$0] }) else {
                    continue
                }
                let lost = try process.integer(
                    "SELECT count(*) FROM \(table.layout.table) WHERE \(column.name) NOT IN "
                        + "(SELECT \(target.layout.keyColumn) FROM \(target.layout.table))")
                if lost != 0 { errors.append("\(column.name) links to a missing row") }
            }
            for collection in table.layout.collections {
                let name = "\(table.type.name).\(table.type.properties[collection.property].name)"
                var counted: [[Int64]: Int64] = [:]
                let owners = try process.column("SELECT DISTINCT owner FROM \(collection.chunkTable)")
                for case .integer(let owner) in owners {
                    let rows = try process.integer(
                        "SELECT count(*) FROM \(table.layout.table) WHERE \(table.layout.keyColumn) = \(owner)")
                    if rows != 1 { errors.append("\(name) has no owner") }
                    for case .integer(let target) in try process.elements(name, owner) {
                        counted[[target, owner], default: 0] += 1
                    }
                }
                guard let targets = collection.targetTable else { continue }
                let stored = try process.column("SELECT target || ' ' || owner || ' ' || count FROM \(targets)")
                let expected = counted.map { SQLValue.text("\($0.key[0]) \($0.key[1]) \($0.value)") }
                if Set(stored) != Set(expected) { errors.append("\(name) has other targets than elements") }
            }
        }
        return errors
    }

    @Test("a random file is migrated completely or not changed O72 D5 O2")
    func invariants() throws {
        var outcomes: [Outcome: Int] = [:]
        for seed in 0..<300 as Range<UInt64> { outcomes[try migrate(seed), default: 0] += 1 }
        // Each outcome must occur often enough to be tested.
        #expect(outcomes[.refused, default: 0] > 20 && outcomes[.migrated, default: 0] > 40, "\(outcomes)")
        #expect(outcomes[.rekeyed, default: 0] > 10, "\(outcomes)")
    }

    private enum Outcome {
        case refused, migrated
        /// The file was migrated, and at least one type got an integer primary key.
        case rekeyed
    }

    private func migrate(_ seed: UInt64) throws -> Outcome {
        var random = SeededRandom(seed: seed)
        let folder = try TestFolder()
        let (old, new) = schemas(&random)
        let rows = Int.random(in: 1...6, using: &random)
        let process = try VirtualProcess(folder.path(), old)
        try fill(process, rows: rows, &random)
        #expect(try errors(process) == [], "\(old)")
        let before = try dump(process)
        process.handle = nil
        var migrated: VirtualProcess?
        let error = engineError { migrated = try VirtualProcess(folder.path(), new) { $0.schemaVersion = 1 } }
        guard let migrated else {
            #expect(error?.code == .schemaMismatch, "\(error?.message ?? "")")
            #expect(try dump(VirtualProcess(folder.path(), old)) == before)
            return .refused
        }
        #expect(try errors(migrated) == [], "\(old)\n\(new)")
        for name in Self.types {
            #expect(try migrated.integer("SELECT count(*) FROM \(name)") == Int64(rows), "\(old)\n\(new)")
        }
        #expect(try migrated.integrity == .text("ok"))
        // The migrated file has the same tables and indexes as a new file.
        let fresh = try VirtualProcess(folder.path("fresh.realm"), new)
        #expect(try names(migrated) == names(fresh), "\(old)\n\(new)")
        migrated.handle = nil
        try migrated.write { transaction in
            for name in Self.types {
                guard let type = transaction.coordinator.schema[name]?.type else { continue }
                let values = type.properties.filter(\.isColumn).map { property -> SQLValue in
                    property.index == type.primaryKey
                        ? (property.element == .scalar(.string) ? .text("new") : .integer(1_000))
                        : TableLayout.zero(of: property.element)
                }
                try transaction.insert(name, values)
            }
        }
        let isRekeyed = zip(old, new).contains { before, after in
            SchemaFactsParser.objectType(after)?.hasIntegerKey == true
                && SchemaFactsParser.objectType(before)?.hasIntegerKey == false
        }
        return isRekeyed ? .rekeyed : .migrated
    }
}
