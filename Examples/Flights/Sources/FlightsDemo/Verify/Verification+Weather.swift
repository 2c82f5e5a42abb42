import Foundation
import Martlet

extension Verification {
    /// A flight has no link to the weather. These checks find the weather of a flight by its origin and hour, in Swift.
    static let weatherChecks: [Check] = [
        Check("flights without weather") { realm in
            let total = realm.objects(Flight.self).count
            return Answer(total - flights(in: realm.objects(Weather.self), realm).count)
        },
        Check("flights in gusts over 30 miles an hour") { realm in
            Answer(flights(in: realm.objects(Weather.self).where { $0.windGust > 30 }, realm).count)
        },
        Check("mean departure delay in rain and without") { realm in
            let weather = realm.objects(Weather.self)
            return .list([
                meanDelay(flights(in: weather.where { $0.precipitation > 0 }, realm)),
                meanDelay(flights(in: weather.where { $0.precipitation == 0 }, realm)),
            ])
        },
        Check("strongest gust and where") { realm in
            let gusts = realm.objects(Weather.self).where { $0.windGust != nil }.sorted(by: [
                SortDescriptor(keyPath: "windGust", ascending: false), SortDescriptor(keyPath: "originCode"),
                SortDescriptor(keyPath: "time"),
            ])
            guard let gust = gusts.first else { return .missing }
            return .list([Answer(gust.windGust), .text(gust.originCode), .text(UniversalTime.text(gust.time))])
        },
        Check("flights that never departed below freezing") { realm in
            let cold = flights(in: realm.objects(Weather.self).where { $0.temperature < 32 }, realm)
            return Answer(cold.count { $0.departureTime == nil })
        },
    ]

    private struct Hour: Hashable {
        let origin: String
        let time: Date
    }

    private static func flights(in weather: Results<Weather>, _ realm: Realm) -> [Flight] {
        let hours = Set(weather.map { Hour(origin: $0.originCode, time: $0.time) })
        return realm.objects(Flight.self).filter { flight in
            flight.origin.map { hours.contains(Hour(origin: $0.faa, time: flight.scheduledDeparture)) } ?? false
        }
    }

    private static func meanDelay(_ flights: [Flight]) -> Answer {
        let delays = flights.compactMap(\.departureDelay)
        return delays.isEmpty ? .missing : .number(Double(delays.reduce(0, +)) / Double(delays.count))
    }
}
