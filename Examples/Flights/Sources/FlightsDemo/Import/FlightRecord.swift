import Foundation

/// The columns of flights.csv that the import uses.
struct FlightColumns {
    let year, month, day, scheduledHour: CSVColumn
    let departureTime, scheduledDepartureTime, departureDelay: CSVColumn
    let arrivalTime, scheduledArrivalTime, arrivalDelay: CSVColumn
    let carrier, number, tailNumber, origin, destination: CSVColumn
    let airTime, distance: CSVColumn

    init(_ file: CSVFile) throws {
        year = try file.column("year")
        month = try file.column("month")
        day = try file.column("day")
        scheduledHour = try file.column("time_hour")
        departureTime = try file.column("dep_time")
        scheduledDepartureTime = try file.column("sched_dep_time")
        departureDelay = try file.column("dep_delay")
        arrivalTime = try file.column("arr_time")
        scheduledArrivalTime = try file.column("sched_arr_time")
        arrivalDelay = try file.column("arr_delay")
        carrier = try file.column("carrier")
        number = try file.column("flight")
        tailNumber = try file.column("tailnum")
        origin = try file.column("origin")
        destination = try file.column("dest")
        airTime = try file.column("air_time")
        distance = try file.column("distance")
    }
}

/// A row of flights.csv. Its values have been checked and converted to Swift types.
struct FlightRecord {
    /// The number of the row without the header, counted from 1.
    let id: Int
    let day: CalendarDay
    let scheduledDeparture: Date
    let departureTime: Int?
    let scheduledDepartureTime: Int
    let departureDelay: Int?
    let arrivalTime: Int?
    let scheduledArrivalTime: Int
    let arrivalDelay: Int?
    let carrier: String
    let number: Int
    let tailNumber: String?
    let origin: String
    let destination: String
    let airTime: Int?
    let distance: Int

    init(id: Int, row: CSVRow, columns: FlightColumns) throws {
        self.id = id
        day = try CalendarDay(row: row, columns: columns)
        scheduledDeparture = try row.date(columns.scheduledHour)
        departureTime = try row.optionalInt(columns.departureTime)
        scheduledDepartureTime = try row.int(columns.scheduledDepartureTime)
        departureDelay = try row.optionalInt(columns.departureDelay)
        arrivalTime = try row.optionalInt(columns.arrivalTime)
        scheduledArrivalTime = try row.int(columns.scheduledArrivalTime)
        arrivalDelay = try row.optionalInt(columns.arrivalDelay)
        carrier = try row.string(columns.carrier)
        number = try row.int(columns.number)
        tailNumber = row.optionalString(columns.tailNumber)
        origin = try row.string(columns.origin)
        destination = try row.string(columns.destination)
        airTime = try row.optionalInt(columns.airTime)
        distance = try row.int(columns.distance)
    }
}

/// A day in the local time of New York.
struct CalendarDay: Hashable, Comparable, CustomStringConvertible {
    let year: Int
    let month: Int8
    let day: Int8

    init(row: CSVRow, columns: FlightColumns) throws {
        year = try row.int(columns.year)
        month = try row.int(columns.month, as: Int8.self)
        day = try row.int(columns.day, as: Int8.self)
        guard (1...12).contains(month) else { throw row.error(columns.month, "a month from 1 to 12") }
        guard (1...31).contains(day) else { throw row.error(columns.day, "a day from 1 to 31") }
    }

    static func < (a: Self, b: Self) -> Bool { (a.year, a.month, a.day) < (b.year, b.month, b.day) }

    var description: String {
        func two(_ number: Int8) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(two(month))-\(two(day))"
    }
}
