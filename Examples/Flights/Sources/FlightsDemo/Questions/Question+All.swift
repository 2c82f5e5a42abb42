import Martlet

extension Question {
    static let all = [
        Question("How many flights are there?") { realm in
            realm.objects(Flight.self).count.grouped
        },
        Question("How many left more than an hour late?") { realm in
            realm.objects(Flight.self).where { $0.departureDelay > 60 }.count.grouped
        },
        Question("How many never left?") { realm in
            realm.objects(Flight.self).where { $0.departureTime == nil }.count.grouped
        },
        Question("How late did they leave on average?") { realm in
            minutes(realm.objects(Flight.self).average { $0.departureDelay })
        },
        Question("Which flight left latest?") { realm in
            let latest = realm.objects(Flight.self).where { $0.departureDelay != nil }
                .sorted(byKeyPath: "departureDelay", ascending: false)
            guard let flight = latest.first else { return "none" }
            return "\(flight.label), \(minutes(flight.departureDelay.map(Double.init)))"
        },
        Question("Which airlines fly most?") { realm in
            realm.objects(Airline.self).map { ($0.name, $0.flights.count) }
                .sorted { $0.1 > $1.1 }.prefix(2).map { "\($0.0) \($0.1.grouped)" }.joined(separator: ", ")
        },
        Question("How late does United arrive on average?") { realm in
            guard let united = realm.object(ofType: Airline.self, forPrimaryKey: "UA") else { return "not flying" }
            return minutes(realm.objects(Flight.self).where { $0.carrier == united }.average { $0.arrivalDelay })
        },
        Question("How many flew in a Boeing built before 2000?") { realm in
            realm.objects(Flight.self).where { $0.plane.manufacturer == "BOEING" && $0.plane.year < 2000 }
                .count.grouped
        },
        Question("How many went to airports above 5,000 feet?") { realm in
            realm.objects(Flight.self).where { $0.dest.location.altitude > 5000 }.count.grouped
        },
        Question("Which is the highest of these airports?") { realm in
            let airports = realm.objects(Airport.self).where { $0.arrivals.count > 0 }
                .sorted(byKeyPath: "location.altitude", ascending: false)
            return airports.first.map { "\($0.name), \(($0.location?.altitude ?? 0).grouped) ft" } ?? "none"
        },
        Question("How many flew a plane without a record?") { realm in
            realm.objects(Flight.self).where { $0.tailNumber != nil && $0.plane == nil }.count.grouped
        },
        Question("Which airlines were three hours late 20 times?") { realm in
            realm.objects(Airline.self).filter { $0.flights.where { $0.departureDelay > 180 }.count >= 20 }
                .map(\.carrier).sorted().joined(separator: " ")
        },
        Question("What was the strongest gust?") { realm in
            let gusts = realm.objects(Weather.self).where { $0.windGust != nil }
                .sorted(byKeyPath: "windGust", ascending: false)
            guard let worst = gusts.first, let speed = worst.windGust else { return "none" }
            return "\(Int(speed.rounded())) mph at \(worst.originCode), \(UniversalTime.text(worst.time).prefix(10))"
        },
    ]

    private static func minutes(_ mean: Double?) -> String {
        mean.map { "\(($0 * 10).rounded() / 10) min" } ?? "unknown"
    }
}

extension Flight {
    /// The codes of the airline and the destination, and the flight number, for example `UA 1545 to IAH`.
    var label: String { "\(carrier?.carrier ?? "??") \(number) to \(destinationCode)" }
}
