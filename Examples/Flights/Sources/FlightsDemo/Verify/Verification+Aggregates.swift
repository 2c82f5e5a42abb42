import Foundation
import Martlet

extension Verification {
    static let aggregateChecks: [Check] = [
        Check("sum of departure delays in minutes") { realm in
            Answer(realm.objects(Flight.self).sum { $0.departureDelay })
        },
        Check("mean departure delay") { realm in
            Answer(realm.objects(Flight.self).average { $0.departureDelay })
        },
        Check("least and greatest arrival delay") { realm in
            let flights = realm.objects(Flight.self)
            return .list([
                Answer(flights.min(ofProperty: "arrivalDelay") as Int?),
                Answer(flights.max(ofProperty: "arrivalDelay") as Int?),
            ])
        },
        Check("mean air time of flights to Honolulu") { realm in
            Answer(
                realm.objects(Flight.self).where { $0.dest.faa == "HNL" }.average { $0.airTime })
        },
        Check("miles flown in all") { realm in
            Answer(realm.objects(Flight.self).sum { $0.distance })
        },
        Check("mean departure delay per origin") { realm in
            Answer(
                perOrigin { code in
                    realm.objects(Flight.self).where { $0.origin.faa == code }
                        .average { $0.departureDelay }
                })
        },
        Check("mean arrival delay per airline") { realm in
            let means = realm.objects(Airline.self).map { airline in
                (airline.name, realm.objects(Flight.self).where { $0.carrier == airline }.average { $0.arrivalDelay })
            }
            return Answer(Dictionary(uniqueKeysWithValues: means))
        },
        Check("mean temperature per origin") { realm in
            Answer(
                perOrigin { code in
                    realm.objects(Weather.self).where { $0.originCode == code }
                        .average { $0.temperature }
                })
        },
        Check("median departure delay (lower of two)") { realm in
            let flights = realm.objects(Flight.self).where { $0.departureDelay != nil }
                .sorted(byKeyPath: "departureDelay")
            return Answer(flights[(flights.count - 1) / 2].departureDelay)
        },
        Check("flight with the longest departure delay, ties by row") { realm in
            guard let flight = latest(in: realm).first else { return .missing }
            return .list([
                Answer(flight.id), .text(flight.carrier?.carrier ?? ""), Answer(flight.number),
                Answer(flight.departureDelay),
            ])
        },
        Check("first ten by departure delay, descending, then row") { realm in
            Answer(latest(in: realm).prefix(10).map(\.id))
        },
        Check("last five by distance, then row") { realm in
            let flights = realm.objects(Flight.self).sorted(by: [
                SortDescriptor(keyPath: "distance"), SortDescriptor(keyPath: "id"),
            ])
            return Answer((max(0, flights.count - 5)..<flights.count).map { flights[$0].id })
        },
        Check("first five of Delta by destination name, then row") { realm in
            let flights = realm.objects(Flight.self).where { $0.carrier.carrier == "DL" && $0.dest != nil }
                .sorted(by: [SortDescriptor(keyPath: "dest.name"), SortDescriptor(keyPath: "id")])
            return Answer(flights.prefix(5).map(\.id))
        },
        Check("ten highest airports") { realm in
            let airports = realm.objects(Airport.self).sorted(by: [
                SortDescriptor(keyPath: "location.altitude", ascending: false), SortDescriptor(keyPath: "faa"),
            ])
            return Answer(airports.prefix(10).map(\.faa))
        },
    ]

    /// Returns the flights that have departed, the most delayed flight first.
    static func latest(in realm: Realm) -> Results<Flight> {
        realm.objects(Flight.self).where { $0.departureDelay != nil }
            .sorted(by: [SortDescriptor(keyPath: "departureDelay", ascending: false), SortDescriptor(keyPath: "id")])
    }

    private static func perOrigin(_ mean: (String) -> Double?) -> [String: Double?] {
        var means: [String: Double?] = [:]
        for code in ["EWR", "JFK", "LGA"] { means[code] = .some(mean(code)) }
        return means
    }
}
