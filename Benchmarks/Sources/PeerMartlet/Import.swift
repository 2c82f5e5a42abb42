import Foundation
import Martlet
import Measure

private struct Importer {
    let realm: Realm
    let folder: String
    var airlines: [String: Airline] = [:]
    var airports: [String: Airport] = [:]
    var planes: [String: Plane] = [:]

    mutating func importAll() -> Int {
        importAirlines()
        importAirports()
        importPlanes()
        importWeather()
        return importFlights()
    }

    private mutating func importAirlines() {
        var rows = CSVRows(folder: folder, name: "airlines", columns: 2)
        while rows.next() {
            let airline = Airline(carrier: rows.string(0), name: rows.string(1))
            realm.add(airline)
            airlines[airline.carrier] = airline
        }
    }

    private mutating func importAirports() {
        var rows = CSVRows(folder: folder, name: "airports", columns: 8)
        while rows.next() {
            let location = Location(latitude: rows.double(2), longitude: rows.double(3), altitude: rows.int(4))
            let airport = Airport(
                faa: rows.string(0), name: rows.string(1), location: location, utcOffset: rows.int(5),
                daylightSaving: rows.string(6), timeZone: rows.optionalString(7))
            realm.add(airport)
            airports[airport.faa] = airport
        }
    }

    private mutating func importPlanes() {
        var rows = CSVRows(folder: folder, name: "planes", columns: 9)
        while rows.next() {
            let plane = Plane(
                tailnum: rows.string(0), year: rows.optionalInt(1), type: rows.string(2),
                manufacturer: rows.string(3), model: rows.string(4), engines: rows.int(5), seats: rows.int(6),
                speed: rows.optionalInt(7), engine: rows.string(8))
            realm.add(plane)
            planes[plane.tailnum] = plane
        }
    }

    private func importWeather() {
        var rows = CSVRows(folder: folder, name: "weather", columns: 15)
        var id = 0
        while rows.next() {
            id += 1
            let origin = rows.string(0)
            realm.add(
                Weather(
                    id: id, origin: airports[origin], originCode: origin, time: rows.date(14),
                    temperature: rows.optionalDouble(5), dewPoint: rows.optionalDouble(6),
                    humidity: rows.optionalDouble(7), windDirection: rows.optionalInt(8),
                    windSpeed: rows.optionalDouble(9), windGust: rows.optionalDouble(10),
                    precipitation: rows.double(11), pressure: rows.optionalDouble(12), visibility: rows.double(13)))
        }
    }

    private func importFlights() -> Int {
        var rows = CSVRows(folder: folder, name: "flights", columns: 19)
        var id = 0
        while rows.next() {
            id += 1
            let tail = rows.optionalString(11), destination = rows.string(13)
            realm.add(
                Flight(
                    id: id, scheduledDeparture: rows.date(18), year: rows.int(0), month: Int8(rows.int(1)),
                    day: Int8(rows.int(2)), departureTime: rows.optionalInt(3), scheduledDepartureTime: rows.int(4),
                    departureDelay: rows.optionalInt(5), arrivalTime: rows.optionalInt(6),
                    scheduledArrivalTime: rows.int(7), arrivalDelay: rows.optionalInt(8),
                    carrier: airlines[rows.string(9)], number: rows.int(10), plane: tail.flatMap { planes[$0] },
                    tailNumber: tail, origin: airports[rows.string(12)], dest: airports[destination],
                    destinationCode: destination, airTime: rows.optionalInt(14), distance: rows.int(15)))
        }
        return id
    }
}

extension CSVRows {
    fileprivate func date(_ column: Int) -> Date { Date(timeIntervalSince1970: Double(seconds(column))) }
}

func importFlights(_ job: Job, _ reporter: Reporter) throws {
    guard let folder = job.folder else { fatalError("the import needs a folder of CSV files") }
    let types: [ObjectBase.Type] = [
        Airline.self, Airport.self, Location.self, Plane.self, Weather.self, Flight.self,
    ]
    let realm = try openRealm(job, types)
    var count = 0
    let time = try duration {
        try realm.write {
            var importer = Importer(realm: realm, folder: folder)
            count = importer.importAll()
        }
    }
    let flights = realm.objects(Flight.self)
    let check =
        flights.where { $0.plane != nil }.count + flights.where { $0.dest != nil }.count + flights.sum { $0.distance }
    reporter.report("import", n: count, nanoseconds: Double(time) / Double(count), check: check)
}
