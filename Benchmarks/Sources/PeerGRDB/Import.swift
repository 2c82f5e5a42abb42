import Foundation
import GRDB
import Measure

private struct Flight: PersistableRecord {
    static let databaseTableName = "flight"
    var id = 0
    var scheduledDeparture = 0.0
    var numbers: [Int?] = []
    var carrier: Int?
    var number = 0
    var plane: Int?
    var tailNumber: String?
    var origin: Int?
    var dest: Int?
    var destinationCode = ""
    var airTime: Int?
    var distance = 0

    static let numberColumns = [
        "year", "month", "day", "departureTime", "scheduledDepartureTime", "departureDelay", "arrivalTime",
        "scheduledArrivalTime", "arrivalDelay",
    ]

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["scheduledDeparture"] = scheduledDeparture
        for (column, number) in zip(Self.numberColumns, numbers) { container[column] = number }
        container["carrier"] = carrier
        container["number"] = number
        container["plane"] = plane
        container["tailNumber"] = tailNumber
        container["origin"] = origin
        container["dest"] = dest
        container["destinationCode"] = destinationCode
        container["airTime"] = airTime
        container["distance"] = distance
    }
}

/// Imports the CSV files. It inserts the flights, which are most of the rows, as GRDB records. It inserts the rows of
/// the small tables with prepared statements.
private struct Importer {
    let db: Database
    let folder: String
    var airlines: [String: Int] = [:]
    var airports: [String: Int] = [:]
    var planes: [String: Int] = [:]

    mutating func importAll() throws -> Int {
        try importAirlines()
        try importAirports()
        try importPlanes()
        try importWeather()
        return try importFlights()
    }

    private mutating func importAirlines() throws {
        let insert = try db.makeStatement(sql: "INSERT INTO airline VALUES(?, ?, ?)")
        var rows = CSVRows(folder: folder, name: "airlines", columns: 2)
        while rows.next() {
            let code = rows.string(0)
            airlines[code] = airlines.count + 1
            try insert.execute(arguments: [airlines.count, code, rows.string(1)])
        }
    }

    private mutating func importAirports() throws {
        let insert = try db.makeStatement(sql: "INSERT INTO airport VALUES(?, ?, ?, ?, ?, ?, ?)")
        let insertLocation = try db.makeStatement(sql: "INSERT INTO location VALUES(?, ?, ?, ?, NULL)")
        var rows = CSVRows(folder: folder, name: "airports", columns: 8)
        while rows.next() {
            let code = rows.string(0)
            airports[code] = airports.count + 1
            let key = airports.count
            try insertLocation.execute(arguments: [key, rows.double(2), rows.double(3), rows.int(4)])
            try insert.execute(
                arguments: [key, code, rows.string(1), key, rows.int(5), rows.string(6), rows.optionalString(7)])
        }
    }

    private mutating func importPlanes() throws {
        let insert = try db.makeStatement(sql: "INSERT INTO plane VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        var rows = CSVRows(folder: folder, name: "planes", columns: 9)
        while rows.next() {
            let code = rows.string(0)
            planes[code] = planes.count + 1
            try insert.execute(
                arguments: [
                    planes.count, code, rows.optionalInt(1), rows.string(2), rows.string(3), rows.string(4),
                    rows.int(5), rows.int(6), rows.optionalInt(7), rows.string(8),
                ])
        }
    }

    private func importWeather() throws {
        let insert = try db.makeStatement(
            sql: "INSERT INTO weather VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)")
        var rows = CSVRows(folder: folder, name: "weather", columns: 15)
        var id = 0
        while rows.next() {
            id += 1
            let origin = rows.string(0)
            try insert.execute(
                arguments: [
                    id, airports[origin], origin, Double(rows.seconds(14)), rows.optionalDouble(5),
                    rows.optionalDouble(6), rows.optionalDouble(7), rows.optionalInt(8), rows.optionalDouble(9),
                    rows.optionalDouble(10), rows.double(11), rows.optionalDouble(12), rows.double(13),
                ])
        }
    }

    private func importFlights() throws -> Int {
        var rows = CSVRows(folder: folder, name: "flights", columns: 19)
        var flight = Flight()
        while rows.next() {
            flight.id += 1
            flight.scheduledDeparture = Double(rows.seconds(18))
            flight.numbers = (0..<9).map { rows.optionalInt($0) }
            flight.carrier = airlines[rows.string(9)]
            flight.number = rows.int(10)
            flight.tailNumber = rows.optionalString(11)
            flight.plane = flight.tailNumber.flatMap { planes[$0] }
            flight.origin = airports[rows.string(12)]
            flight.destinationCode = rows.string(13)
            flight.dest = airports[flight.destinationCode]
            flight.airTime = rows.optionalInt(14)
            flight.distance = rows.int(15)
            try flight.insert(db)
        }
        return flight.id
    }
}

func importFlights(_ job: Job, _ reporter: Reporter) throws {
    guard let folder = job.folder else { fatalError("the import needs a folder of CSV files") }
    let pool = try openPool(job.file)
    try pool.write { try $0.execute(sql: flightSchema) }
    var count = 0
    let time = try duration {
        try pool.write { db in
            var importer = Importer(db: db, folder: folder)
            count = try importer.importAll()
        }
    }
    let check = try pool.read {
        try Int.fetchOne($0, sql: "SELECT count(plane) + count(dest) + sum(distance) FROM flight")!
    }
    try pool.close()
    reporter.report("import", n: count, nanoseconds: Double(time) / Double(count), check: check)
}
