import MartletEngine
import MartletFrontend
import MartletSchema
import MartletTables
import MartletValues
import ModelTesting
import Testing

@testable import MartletSyncProtocol
@testable import MartletSyncService

@Suite("conditions as SQL for PostgreSQL")
struct ConditionSQLTests {
    private static var builder: ConditionBuilder {
        ConditionBuilder(type: 0, schema: SampleSchema.agreed) { type, key in
            let airports = SampleSchema.airports
            guard type == "Airport", airports.indices.contains(Int(key) - 1) else { return nil }
            return .text(airports[Int(key) - 1])
        }
    }

    private static let airportKeys = SampleSchema.airports.indices.map { ObjectKey($0 + 1) }

    private func filter(_ predicate: Predicate) throws -> PostgresFilter {
        ConditionSQL.filter(try Self.builder.condition(predicate), type: SampleSchema.sample)
    }

    // MARK: PostgreSQL

    @Test(
        "PostgreSQL finds every row that satisfies a condition, and no other row if the SQL is exact",
        .enabled(if: QueryPostgres.isAvailable, "PostgreSQL 15 is not installed"))
    func sameRows() throws {
        let server = try QueryPostgres()
        let tables = SampleTables.statements()
        #expect(tables.problems == [])
        _ = try server.lines(tables.sql + "\n" + SampleTables.airports)
        let campaign = Campaign("MARTLET_CONDITIONS", count: 2)
        let failure = try campaign.firstFailure { seed in try Self.difference(seed: seed, server) }
        if let failure { Issue.record("MARTLET_CONDITIONS_SEED=\(failure.seed): \(failure.failure)") }
    }

    // Returns the first difference for a seed; nil if PostgreSQL finds the right rows for all conditions.
    private static func difference(seed: UInt64, _ server: QueryPostgres) throws -> String? {
        var random = SeededRandom(seed: seed)
        let rows = (1...120).map { SampleTables.stored(SampleRow(id: $0, &random)) }
        var predicates = RandomPredicate(seed: seed &* 37, airportKeys: airportKeys)
        let conditions = try (0..<400).map { number in
            try builder.condition(predicates.tree(depth: number % 4))
        }
        // Half of the filters contain the values as literals in the SQL. The other filters have parameters.
        let filters = conditions.enumerated().map { number, condition in
            let filter = ConditionSQL.filter(condition, type: SampleSchema.sample)
            if number.isMultiple(of: 2) { return filter }
            let sql = ConditionSQL.literal([condition], type: SampleSchema.sample)
            return PostgresFilter(sql: sql ?? "TRUE", parameters: [], isExact: filter.isExact)
        }
        let statements = ["TRUNCATE sample CASCADE;"] + rows.map(SampleTables.insert) + filters.map(query)
        let lines = try server.lines(statements.joined(separator: "\n"))
        guard lines.count == filters.count else { return "\(lines.count) results of \(filters.count) queries" }
        var exactCount = 0
        for (number, condition) in conditions.enumerated() {
            let found = Set(lines[number].split(separator: ",").compactMap { Int($0) })
            let matching = Set(rows.indices.filter { condition.matches(rows[$0].image()) }.map { $0 + 1 })
            let isExact = filters[number].isExact
            if isExact { exactCount += 1 }
            guard !found.isSuperset(of: matching) || (isExact && found != matching) else { continue }
            let row = found.symmetricDifference(matching).min() ?? 0
            return "\(condition.text(type: 0, in: SampleSchema.agreed)) is \(filters[number]), row \(rows[row - 1])"
        }
        return exactCount > 200 ? nil : "only \(exactCount) conditions are exact"
    }

    private static func query(_ filter: PostgresFilter) -> String {
        let arguments = filter.parameters.map(SQLName.literal).joined(separator: ", ")
        return """
            PREPARE q AS SELECT coalesce(string_agg(id::text, ',' ORDER BY id), '') FROM sample t WHERE \(filter.sql);
            EXECUTE q\(arguments.isEmpty ? "" : "(\(arguments))"); DEALLOCATE q;
            """
    }

    // MARK: Text

    @Test("comparisons of values in JSON exclude no rows in SQL, because the service evaluates these comparisons")
    func unknown() throws {
        let inJSON = Predicate.comparison(.path(PropertyPath("home.city")), .equal, .value(.text("x")))
        let number = Predicate.comparison(.path(PropertyPath("number")), .equal, .value(.integer(7)))
        let any = Predicate.comparison(.path(PropertyPath("extra")), .less, .value(.integer(7)))
        #expect(try filter(inJSON) == PostgresFilter(sql: "TRUE", parameters: [], isExact: false))
        #expect(try filter(.not(inJSON)) == PostgresFilter(sql: "TRUE", parameters: [], isExact: false))
        #expect(
            try filter(.and([inJSON, number]))
                == PostgresFilter(sql: "((t.\"number\" = $1::bigint))", parameters: ["7"], isExact: false))
        #expect(try filter(.or([number, any])) == PostgresFilter(sql: "TRUE", parameters: [], isExact: false))
        #expect(
            try filter(.comparison(.path(PropertyPath("home")), .notEqual, .value(.null)))
                == PostgresFilter(
                    sql: "(t.\"home\" IS NULL OR t.\"home\" = 'null'::jsonb) IS NOT TRUE", parameters: [], isExact: true
                ))
        #expect(try filter(.constant(false)) == PostgresFilter(sql: "FALSE", parameters: [], isExact: true))
    }

    @Test("without parameters, values are literals in which quotes and backslashes are escaped")
    func literals() throws {
        let name = Predicate.Operand.path(PropertyPath("name"))
        func literal(_ texts: [String]) throws -> String? {
            let conditions = try texts.map { try Self.builder.condition(.comparison(name, .equal, .value(.text($0)))) }
            return ConditionSQL.literal(conditions, type: SampleSchema.sample)
        }
        #expect(try literal(["a'; --"]) == #"(t."name" = 'a''; --'::text)"#)
        #expect(try literal([#"\'"#, "$1"]) == #"(t."name" = E'\\'''::text) OR (t."name" = '$1'::text)"#)
        let unknown = try Self.builder.condition(
            .comparison(.path(PropertyPath("home.city")), .equal, .value(.text("x"))))
        #expect(ConditionSQL.literal([.constant(false), unknown], type: SampleSchema.sample) == nil)
        #expect(ConditionSQL.literal([], type: SampleSchema.sample) == "FALSE")
    }

    @Test("values become parameters, and a text with NUL equals no text in PostgreSQL")
    func parameters() throws {
        let name = Predicate.Operand.path(PropertyPath("name"))
        let quoted = try filter(.contained(name, [.text("a'\"\\"), .text("b")]))
        #expect(quoted.sql == "(t.\"name\" = ANY($1::text[]))")
        #expect(quoted.parameters == [#"{"a'\"\\","b"}"#])
        let begins = ConditionSQL.filter(
            try Self.builder.condition(.text(name, .begins, .value(.text("x")), [])), type: SampleSchema.sample,
            alias: "s", firstParameter: 4)
        #expect(begins.sql == "(s.\"name\" >= $4::text AND starts_with(s.\"name\", $4::text))")
        #expect(try filter(.comparison(name, .equal, .value(.text("a\0")))).sql == "(FALSE)")
        let less = try filter(.comparison(name, .less, .value(.text("a\0b"))))
        #expect(less == PostgresFilter(sql: "(t.\"name\" <= $1::text)", parameters: ["a"], isExact: true))
        let greater = try filter(.comparison(name, .greaterOrEqual, .value(.text("a\0b"))))
        #expect(greater == PostgresFilter(sql: "(t.\"name\" > $1::text)", parameters: ["a"], isExact: true))
        #expect(try filter(.text(name, .contains, .value(.text("\0")), [])).sql == "(FALSE)")
    }

    @Test(
        "timestamps are written as texts that PostgreSQL can parse",
        arguments: [
            (0, "2001-01-01 00:00:00.000000+00"), (-1, "2000-12-31 23:59:59.999999+00"),
            (762_134_400_000_001, "2025-02-25 00:00:00.000001+00"),
            (PostgresTimestamp.least, "4714-11-24 00:00:00.000000+00 BC"),
            (PostgresTimestamp.greatest, "294276-12-31 23:59:59.999999+00"),
            (-63_113_904_000_000_001, "0001-12-31 23:59:59.999999+00 BC"),
        ])
    func timestamps(_ sample: (Int64, String)) {
        #expect(PostgresTimestamp.microseconds(sample.0).text == sample.1)
    }

    @Test("the names of tables and columns are the names that 'martlet postgres' writes")
    func names() throws {
        let analysis = Frontend.analyze([
            SourceText(file: SourceFileID(0), path: "Sample.yaml", text: SampleTables.yaml)
        ])
        let tables = TableBuilder(try #require(analysis.model)).tables()
        for type in SampleSchema.types where !type.isEmbedded && type.primaryKey != nil {
            let table = try #require(tables.first { SQLName.quoted($0.name) == PostgresNames.table(type) })
            let columns = Set(table.columns.map { SQLName.quoted($0.name) })
            for property in type.properties {
                if property.kind == .single { #expect(columns.contains(PostgresNames.column(property))) }
                guard property.isCollection else { continue }
                let name = PostgresNames.table(type, property)
                #expect(tables.contains { SQLName.quoted($0.name) == name })
            }
        }
        for name in ["homeAddress", "URLName", "lastURL", "line2Text", "A", "snake_case", "IDs", "éÉa"] {
            let type = ObjectTypeSchema(name: name, isEmbedded: false)
            #expect(PostgresNames.table(type) == SQLName.quoted(SQLName.snakeCase(name)))
        }
    }
}
