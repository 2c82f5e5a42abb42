import MartletEngine
import MartletFrontend
import MartletSchema
import MartletSyncProtocol
import MartletTables
import MartletValues

@testable import MartletSyncService

/// The tables that `martlet postgres` writes for `SampleSchema`, and the statements that insert rows into them.
enum SampleTables {
    static let yaml = """
        enums:
          Color: {raw: String, cases: [red, green]}
          Level: {raw: Int, cases: {none: 0, low: 1, middle: 2, high: 3}}
        embedded:
          Spot: {properties: {row: Int?, height: Float}}
          Place: {properties: {city: String?, zip: Int?, latitude: Double, spot: Spot?, rooms: List<Int>}}
        objects:
          Airport: {primaryKey: iata, properties: {iata: String, name: String, hub: Airport?}}
          Sample:
            primaryKey: id
            properties:
              id: Int
              flag: Bool
              maybeFlag: Bool?
              small: Int8?
              number: Int
              maybeNumber: Int?
              ratio: Double
              maybeRatio: Double?
              single: Float?
              name: String
              maybeName: String?
              bytes: Data?
              token: UUID?
              object: ObjectId?
              moment: Date?
              price: Decimal128?
              extra: AnyRealmValue
              color: Color?
              level: Level?
              home: Place?
              origin: Airport?
              destination: Airport?
              tags: List<String>
              scores: Set<Double?>
              marks: List<Int?>
              stops: List<Airport>
              named: Map<Airport?>
              prices: List<Decimal128>
              extras: List<AnyRealmValue>
              places: List<Place>
              words: String
              otherPrice: Decimal128
        """

    static func statements() -> (sql: String, problems: [String]) {
        let analysis = Frontend.analyze([SourceText(file: SourceFileID(0), path: "Sample.yaml", text: yaml)])
        guard let model = analysis.model else { return ("", analysis.diagnostics.map { "\($0)" }) }
        return (DDLWriter.text(TableBuilder(model).tables()), TableBuilder(model).problems())
    }

    static var airports: String {
        SampleSchema.airports.map { "INSERT INTO airport (iata, name) VALUES (\(SQLName.literal($0)), '');" }
            .joined(separator: "\n")
    }

    /// The row as PostgreSQL can store it: dates become whole microseconds, and a date that is NaN becomes nil.
    static func stored(_ row: SampleRow) -> SampleRow {
        var row = row
        for property in SampleSchema.sample.properties where property.element == .scalar(.date) {
            guard case .real(let seconds)? = row.values[property.index], seconds.isFinite || seconds.isNaN else {
                continue
            }
            row.values[property.index] = seconds.isNaN ? nil : .real(PostgresTimestamp.seconds(microseconds(seconds)))
        }
        return row
    }

    private static func microseconds(_ seconds: Double) -> Int64 { Int64((seconds * 1_000_000).rounded()) }

    static func insert(_ row: SampleRow) -> String {
        let properties = SampleSchema.sample.properties
        let singles = properties.filter { $0.kind == .single }
        let columns = singles.map { PostgresNames.column($0) }.joined(separator: ", ")
        let values = singles.map { property in
            property.name == "home"
                ? (row.home == nil ? "NULL" : "'{}'") : literal(row.values[property.index] ?? .null, property.element)
        }
        var statements = ["INSERT INTO sample (\(columns)) VALUES (\(values.joined(separator: ", ")));"]
        for property in properties where property.isCollection {
            statements += elements(row, property)
        }
        return statements.joined(separator: "\n")
    }

    private static func elements(_ row: SampleRow, _ property: PropertySchema) -> [String] {
        let table = PostgresNames.table(SampleSchema.sample, property)
        guard case .integer(let owner)? = row.values[0] else { return [] }
        var values = (row.collections[property.index] ?? []).map { literal($0, property.element) }
        if property.kind == .set {
            var seen: Set<String> = []
            values = values.filter { seen.insert($0.replacing("'-0.0'", with: "'0.0'")).inserted }
        }
        return values.enumerated().map { position, value in
            switch property.kind {
            case .list: "INSERT INTO \(table) VALUES (\(owner), int4send(\(position)), \(value));"
            case .map: "INSERT INTO \(table) VALUES (\(owner), 'key\(position)', \(value));"
            default: "INSERT INTO \(table) VALUES (\(owner), \(value));"
            }
        }
    }

    private static func literal(_ value: SQLValue, _ element: ElementType) -> String {
        switch (value, element) {
        case (.null, _): return "NULL"
        // The stored form of an `AnyRealmValue` does not matter, because the SQL does not compare it.
        case (_, .scalar(.any)): return "'1'"
        case (.integer(let number), .scalar(.bool)): return number == 0 ? "false" : "true"
        case (.integer(let number), _): return "\(number)"
        case (.real(let seconds), .scalar(.date)):
            if seconds.isInfinite { return seconds < 0 ? "'-infinity'" : "'infinity'" }
            return "'\(PostgresTimestamp.microseconds(microseconds(seconds)).text)'"
        case (.real(let number), .scalar(.float)): return "'\(Float(number))'"
        case (.real(let number), _): return "'\(number)'"
        case (.text(let text), _): return SQLName.literal(text)
        case (.blob(let bytes), .scalar(.decimal128)): return "'\(DecimalNumber(bytes: bytes)?.description ?? "")'"
        case (.blob(let bytes), .scalar(.uuid)): return "'\(SQLName.literal(bytes).dropFirst(3))"
        case (.blob(let bytes), _): return SQLName.literal(bytes)
        }
    }
}
