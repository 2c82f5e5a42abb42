import Foundation
import MartletSQLite
import MartletSyncProtocol
import MartletValues

@testable import MartletEngine

/// A database in memory with rows of `Sample`, in which the engine runs queries.
final class SampleDatabase {
    private let connection: Connection
    private var nextKey: ObjectKey = 1
    private(set) var airportKeys: [String: ObjectKey] = [:]
    private let schema = SampleSchema.database

    init() throws {
        connection = try Connection(ConnectionOptions(path: ":memory:"))
        try QueryFunctions.install(on: connection)
        for type in SampleSchema.types {
            for statement in TableLayout.definition(type) { try connection.execute(statement) }
        }
        for name in SampleSchema.airports {
            airportKeys[name] = try insert("Airport", [0: .text(name), 1: .text("airport \(name)")])
        }
    }

    /// Returns the primary key of an airport to `ConditionBuilder`.
    func primaryKey(_ type: String, _ key: ObjectKey) -> SQLValue? {
        airportKeys.first { type == "Airport" && $0.value == key }.map { .text($0.key) }
    }

    func add(_ row: SampleRow) throws {
        var values = row.values
        for property in SampleSchema.sample.properties where property.kind == .single {
            guard case .link = property.element, case .text(let name)? = values[property.index] else { continue }
            values[property.index] = airportKeys[name].map { .integer($0) }
        }
        if var home = row.home, let property = SampleSchema.sample["home"],
            let spot = SampleSchema.agreed.type(named: "Place")?["spot"]
        {
            if let inner = row.spot { home[spot.index] = .integer(try insert("Spot", inner)) }
            values[property.index] = .integer(try insert("Place", home))
        }
        let key = try insert("Sample", values)
        for (number, elements) in row.collections { try addCollection(number, elements, owner: key) }
    }

    @discardableResult
    private func insert(_ name: String, _ values: [Int: SQLValue]) throws -> ObjectKey {
        guard let table = schema[name] else { throw CancellationError() }
        var specials: [UInt8] = []
        var parameters = table.layout.columns.map { column -> SQLValue in
            let value = values[column.property] ?? .null
            guard table.type.properties[column.property].element.isFloating, case .real(let number) = value,
                FloatingSpecials.needsBits(number)
            else { return value }
            FloatingSpecials.append(number, of: column.property, to: &specials)
            return number.isNaN ? .null : .real(0)
        }
        if table.layout.hasSpecials { parameters.append(specials.isEmpty ? .null : .blob(specials)) }
        if table.layout.keyIsProperty, let primaryKey = table.type.primaryKey,
            case .integer(let key)? = values[primaryKey]
        {
            try connection.run(table.layout.insert, parameters)
            return key
        }
        nextKey += 1
        try connection.run(table.layout.insert, parameters + [.integer(nextKey)])
        return nextKey
    }

    private func addCollection(_ number: Int, _ elements: [SQLValue], owner: ObjectKey) throws {
        guard !elements.isEmpty, let table = schema["Sample"] else { return }
        let property = table.type.properties[number]
        let collection = table.layout.collection(of: number)
        var stored = elements.map { element -> SQLValue in
            if case .link = property.element, case .text(let name) = element {
                return airportKeys[name].map { .integer($0) } ?? .null
            }
            return property.element.isFloating ? FloatingSpecials.encodedElement(element) : element
        }
        var targets: [ObjectKey: Int64] = [:]
        for case .integer(let key) in stored { targets[key, default: 0] += 1 }
        if property.kind == .map {
            stored = stored.enumerated().flatMap { [.text("key\($0)"), $1] }
        }
        try connection.run(
            "INSERT INTO \(collection.chunkTable) VALUES (?1, 0, ?2, ?3)",
            [.integer(owner), .integer(Int64(stored.count)), .blob(ElementCodec.encode(stored))])
        guard let targetTable = collection.targetTable else { return }
        for (key, count) in targets {
            try connection.run(
                "INSERT INTO \(targetTable) VALUES (?1, ?2, ?3)", [.integer(key), .integer(owner), .integer(count)])
        }
    }

    /// The primary keys of the rows that satisfy a predicate.
    func ids(_ predicate: MartletEngine.Predicate) throws -> Set<Int64> {
        guard let table = schema["Sample"] else { return [] }
        var plan = QueryPlan(table: table.id)
        plan.add(predicate)
        return Set(try QueryRunner(plan, schema).keys(connection))
    }
}
