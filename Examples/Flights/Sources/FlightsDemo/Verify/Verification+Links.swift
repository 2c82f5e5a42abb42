import Foundation
import Martlet

extension Verification {
    static let linkChecks: [Check] = [
        Check("flights per airline name") { realm in
            let counts = realm.objects(Airline.self).map { ($0.name, $0.flights.count) }.filter { $0.1 > 0 }
            return Answer(Dictionary(uniqueKeysWithValues: counts))
        },
        Check("ten busiest destinations") { realm in
            let counts = realm.objects(Airport.self).map { ($0.faa, $0.arrivals.count) }
            let busiest = counts.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.prefix(10)
            return .list(busiest.map { .list([.text($0.0), Answer($0.1)]) })
        },
        Check("flights in a Boeing") { realm in
            Answer(realm.objects(Flight.self).where { $0.plane.manufacturer == "BOEING" }.count)
        },
        Check("flights in a plane built before 2000") { realm in
            Answer(realm.objects(Flight.self).where { $0.plane.year < 2000 }.count)
        },
        Check("flights in a plane whose maker begins with AIRBUS") { realm in
            Answer(realm.objects(Flight.self).where { $0.plane.manufacturer.starts(with: "AIRBUS") }.count)
        },
        Check("flights without tail number") { realm in
            Answer(realm.objects(Flight.self).where { $0.tailNumber == nil }.count)
        },
        Check("flights whose tail number names no plane") { realm in
            Answer(realm.objects(Flight.self).where { $0.tailNumber != nil && $0.plane == nil }.count)
        },
        Check("flights to a destination that is not in the files") { realm in
            Answer(realm.objects(Flight.self).where { $0.dest == nil }.count)
        },
        Check("flights to airports above 5000 feet") { realm in
            Answer(realm.objects(Flight.self).where { $0.dest.location.altitude > 5000 }.count)
        },
        Check("flights to a place whose name contains 'International' or 'Intl'") { realm in
            Answer(
                realm.objects(Flight.self).where {
                    $0.dest.name.contains("International") || $0.dest.name.contains("Intl")
                }.count)
        },
        Check("distinct planes per airline") { realm in
            var planes: [String: Int] = [:]
            for airline in realm.objects(Airline.self) {
                let flown = realm.objects(Plane.self).where { $0.flights.carrier.carrier == airline.carrier }.count
                if flown > 0 { planes[airline.name] = flown }
            }
            return Answer(planes)
        },
        Check("airports without flights to them") { realm in
            Answer(realm.objects(Airport.self).where { $0.arrivals.count == 0 }.count)
        },
        Check("plane that flew most") { realm in
            let counts = realm.objects(Plane.self).map { ($0.tailnum, $0.flights.count) }
            guard let most = counts.min(by: { ($1.1, $0.0) < ($0.1, $1.0) }) else { return .missing }
            return .list([.text(most.0), Answer(most.1)])
        },
        Check("airlines with at least 20 flights more than three hours late") { realm in
            Answer(
                realm.objects(Airline.self).filter { $0.flights.where { $0.departureDelay > 180 }.count >= 20 }
                    .map(\.carrier).sorted())
        },
    ]
}
