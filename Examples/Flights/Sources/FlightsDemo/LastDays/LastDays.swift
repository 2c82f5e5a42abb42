import Foundation
import Martlet

/// Simulates the last days of the data, hour by hour. For each hour, one transaction adds the scheduled flights. Each
/// departure and each arrival is a further transaction. Observers print their notifications.
struct LastDays {
    let realm: Realm
    let importer: FlightsImporter
    private let hours: [Hour]

    /// The flights that are scheduled for one hour of a day.
    private struct Hour {
        let day: CalendarDay
        let hour: Int
        var flights: [FlightRecord]
    }

    init(realm: Realm, importer: FlightsImporter, records: [FlightRecord]) {
        self.realm = realm
        self.importer = importer
        let sorted = records.sorted {
            ($0.day, $0.scheduledDepartureTime, $0.id) < ($1.day, $1.scheduledDepartureTime, $1.id)
        }
        var hours: [Hour] = []
        for record in sorted {
            let hour = record.scheduledDepartureTime / 100
            if hours.last?.day == record.day, hours.last?.hour == hour {
                hours[hours.count - 1].flights.append(record)
            } else {
                hours.append(Hour(day: record.day, hour: hour, flights: [record]))
            }
        }
        self.hours = hours
    }

    func run() throws {
        let flights = hours.flatMap(\.flights)
        guard let start = flights.map(\.scheduledDeparture).min(),
            let worst = flights.max(by: { ($0.departureDelay ?? 0) < ($1.departureDelay ?? 0) })
        else { return }
        let observers = Observers(realm: realm, from: start)
        var waiting: [FlightRecord] = [], flying: [FlightRecord] = []
        for hour in hours {
            try realm.write {
                for record in hour.flights { realm.add(scheduled(record)) }
            }
            if hour.flights.contains(where: { $0.id == worst.id }) { observers.watch(flight: worst.id) }
            try land(flying)
            try takeOff(waiting)
            (waiting, flying) = (hour.flights, waiting)
            realm.refresh()
            observers.printHour("\(hour.day) \(hour.hour)h")
        }
        try takeOff(waiting)
        try land(flying + waiting)
        realm.refresh()
        observers.printHour("afterwards")
        observers.printTotals()
    }

    /// Returns the flight of a record as it is before its departure: without actual times and without delays.
    private func scheduled(_ record: FlightRecord) -> Flight {
        let flight = importer.flight(record)
        flight.departureTime = nil
        flight.departureDelay = nil
        flight.arrivalTime = nil
        flight.arrivalDelay = nil
        flight.airTime = nil
        return flight
    }

    private func takeOff(_ records: [FlightRecord]) throws {
        for record in records where record.departureTime != nil {
            try change(record) {
                $0.departureTime = record.departureTime
                $0.departureDelay = record.departureDelay
            }
        }
    }

    private func land(_ records: [FlightRecord]) throws {
        for record in records where record.arrivalTime != nil {
            try change(record) {
                $0.arrivalTime = record.arrivalTime
                $0.arrivalDelay = record.arrivalDelay
                $0.airTime = record.airTime
            }
        }
    }

    private func change(_ record: FlightRecord, _ body: (Flight) -> Void) throws {
        guard let flight = realm.object(ofType: Flight.self, forPrimaryKey: record.id) else { return }
        try realm.write { body(flight) }
    }
}
