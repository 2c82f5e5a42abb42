import Foundation
import Martlet

/// Imports the five CSV files of a folder into a Realm.
///
/// The import is one write: if any row of any file is invalid, the Realm does not change.
struct FlightsImporter {
    let folder: URL
    let realm: Realm
    let progress: ImportProgress
    private var airlines: [String: Airline] = [:]
    private var airports: [String: Airport] = [:]
    private var planes: [String: Plane] = [:]

    init(folder: URL, realm: Realm, progress: ImportProgress) {
        self.folder = folder
        self.realm = realm
        self.progress = progress
    }

    /// Replaces the content of the Realm. The flights of the last `days` days are not stored, but returned as records.
    mutating func importAll(holdingBack days: Int) throws -> [FlightRecord] {
        let lastDays = days > 0 ? try Set(self.days().sorted().suffix(days)) : []
        let realm = realm
        return try realm.write {
            realm.deleteAll()
            try importAirlines()
            try importAirports()
            try importPlanes()
            try importWeather()
            return try importFlights(except: lastDays)
        }
    }

    /// Returns the days on which flights were scheduled.
    private func days() throws -> Set<CalendarDay> {
        var file = try CSVFile(folder: folder, name: "flights.csv")
        let columns = try FlightColumns(file)
        var days: Set<CalendarDay> = []
        while let row = try file.next() { days.insert(try CalendarDay(row: row, columns: columns)) }
        return days
    }

    private mutating func importAirlines() throws {
        var file = try CSVFile(folder: folder, name: "airlines.csv")
        let code = try file.column("carrier"), name = try file.column("name")
        while let row = try file.next() {
            let airline = Airline(carrier: try row.string(code), name: try row.string(name))
            try register(airline, as: airline.carrier, in: \.airlines, row, code)
            realm.add(airline)
        }
        progress.finish("airlines", count: airlines.count)
    }

    private mutating func importAirports() throws {
        var file = try CSVFile(folder: folder, name: "airports.csv")
        let code = try file.column("faa"), name = try file.column("name"), zone = try file.column("tzone")
        let latitude = try file.column("lat"), longitude = try file.column("lon"), altitude = try file.column("alt")
        let offset = try file.column("tz"), saving = try file.column("dst")
        while let row = try file.next() {
            let airport = Airport(
                faa: try row.string(code), name: try row.string(name),
                location: Location(
                    latitude: try row.double(latitude), longitude: try row.double(longitude),
                    altitude: try row.int(altitude)),
                utcOffset: try row.int(offset), daylightSaving: try row.string(saving),
                timeZone: row.optionalString(zone))
            try register(airport, as: airport.faa, in: \.airports, row, code)
            realm.add(airport)
        }
        progress.finish("airports", count: airports.count)
    }

    private mutating func importPlanes() throws {
        var file = try CSVFile(folder: folder, name: "planes.csv")
        let tail = try file.column("tailnum"), year = try file.column("year"), type = try file.column("type")
        let manufacturer = try file.column("manufacturer"), model = try file.column("model")
        let engines = try file.column("engines"), seats = try file.column("seats"), speed = try file.column("speed")
        let engine = try file.column("engine")
        while let row = try file.next() {
            let plane = Plane(
                tailnum: try row.string(tail), year: try row.optionalInt(year), type: try row.string(type),
                manufacturer: try row.string(manufacturer), model: try row.string(model),
                engines: try row.int(engines), seats: try row.int(seats), speed: try row.optionalInt(speed),
                engine: try row.string(engine))
            try register(plane, as: plane.tailnum, in: \.planes, row, tail)
            realm.add(plane)
        }
        progress.finish("planes", count: planes.count)
    }

    private func importWeather() throws {
        var file = try CSVFile(folder: folder, name: "weather.csv")
        let origin = try file.column("origin"), time = try file.column("time_hour")
        let temperature = try file.column("temp"), dewPoint = try file.column("dewp")
        let humidity = try file.column("humid"), direction = try file.column("wind_dir")
        let speed = try file.column("wind_speed"), gust = try file.column("wind_gust")
        let precipitation = try file.column("precip"), pressure = try file.column("pressure")
        let visibility = try file.column("visib")
        var count = 0
        while let row = try file.next() {
            count += 1
            let code = try row.string(origin)
            realm.add(
                Weather(
                    id: count, origin: airports[code], originCode: code, time: try row.date(time),
                    temperature: try row.optionalDouble(temperature), dewPoint: try row.optionalDouble(dewPoint),
                    humidity: try row.optionalDouble(humidity), windDirection: try row.optionalInt(direction),
                    windSpeed: try row.optionalDouble(speed), windGust: try row.optionalDouble(gust),
                    precipitation: try row.double(precipitation), pressure: try row.optionalDouble(pressure),
                    visibility: try row.double(visibility)))
            progress.show("weather", count: count, fraction: Double(file.position) / Double(file.byteCount))
        }
        progress.finish("weather", count: count)
    }

    private func importFlights(except lastDays: Set<CalendarDay>) throws -> [FlightRecord] {
        var file = try CSVFile(folder: folder, name: "flights.csv")
        let columns = try FlightColumns(file)
        var held: [FlightRecord] = []
        var count = 0
        while let row = try file.next() {
            count += 1
            let record = try FlightRecord(id: count, row: row, columns: columns)
            if lastDays.contains(record.day) {
                held.append(record)
            } else {
                realm.add(flight(record))
            }
            progress.show("flights", count: count, fraction: Double(file.position) / Double(file.byteCount))
        }
        progress.finish("flights", count: count - held.count)
        return held
    }

    /// Returns the flight of a record, with its links. A link is nil if the files do not contain the linked object.
    func flight(_ record: FlightRecord) -> Flight {
        Flight(
            id: record.id, scheduledDeparture: record.scheduledDeparture, year: record.day.year,
            month: record.day.month, day: record.day.day, departureTime: record.departureTime,
            scheduledDepartureTime: record.scheduledDepartureTime, departureDelay: record.departureDelay,
            arrivalTime: record.arrivalTime, scheduledArrivalTime: record.scheduledArrivalTime,
            arrivalDelay: record.arrivalDelay, carrier: airlines[record.carrier], number: record.number,
            plane: record.tailNumber.flatMap { planes[$0] }, tailNumber: record.tailNumber,
            origin: airports[record.origin], dest: airports[record.destination],
            destinationCode: record.destination, airTime: record.airTime, distance: record.distance)
    }

    private mutating func register<T>(
        _ object: T, as key: String, in objects: WritableKeyPath<Self, [String: T]>, _ row: CSVRow, _ column: CSVColumn
    ) throws {
        let old = self[keyPath: objects].updateValue(object, forKey: key)
        if old != nil { throw row.error(column, "a key that no earlier row has") }
    }
}
