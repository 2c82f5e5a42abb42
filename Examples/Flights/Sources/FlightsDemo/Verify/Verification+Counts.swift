import Foundation
import Martlet

extension Verification {
    static let countChecks: [Check] = [
        Check("count of every table") { realm in
            Answer([
                "airlines": realm.objects(Airline.self).count, "airports": realm.objects(Airport.self).count,
                "flights": realm.objects(Flight.self).count, "planes": realm.objects(Plane.self).count,
                "weather": realm.objects(Weather.self).count,
            ])
        },
        Check("flights that never departed") { realm in
            Answer(realm.objects(Flight.self).where { $0.departureTime == nil }.count)
        },
        Check("flights that departed and whose arrival delay is unknown") { realm in
            Answer(realm.objects(Flight.self).where { $0.departureTime != nil && $0.arrivalDelay == nil }.count)
        },
        Check("flights that left more than an hour late") { realm in
            Answer(realm.objects(Flight.self).where { $0.departureDelay > 60 }.count)
        },
        Check("flights that left late and arrived early") { realm in
            Answer(realm.objects(Flight.self).where { $0.departureDelay > 0 && $0.arrivalDelay < 0 }.count)
        },
        Check("flights of JetBlue from JFK or of United from EWR") { realm in
            Answer(
                realm.objects(Flight.self).where {
                    ($0.carrier.carrier == "B6" && $0.origin.faa == "JFK")
                        || ($0.carrier.carrier == "UA" && $0.origin.faa == "EWR")
                }.count)
        },
        Check("flights of at least 500 and less than 1000 miles") { realm in
            Answer(realm.objects(Flight.self).where { $0.distance.contains(500..<1000) }.count)
        },
        Check("flights to Los Angeles, San Francisco or Seattle") { realm in
            Answer(realm.objects(Flight.self).where { $0.destinationCode.in(["LAX", "SFO", "SEA"]) }.count)
        },
        Check("flights not of the three largest airlines") { realm in
            Answer(realm.objects(Flight.self).where { !$0.carrier.carrier.in(["UA", "B6", "EV"]) }.count)
        },
        Check("flights per month") { realm in
            var counts: [String: Int] = [:]
            for month in Int8(1)...12 {
                let count = realm.objects(Flight.self).where { $0.month == month }.count
                if count > 0 { counts["\(month)"] = count }
            }
            return Answer(counts)
        },
        Check("flights scheduled from 2013-12-30T00:00Z to before 2013-12-31T00:00Z") { realm in
            let start = UniversalTime.date(from: "2013-12-30T00:00:00Z")!
            let day = start..<start.addingTimeInterval(86400)
            return Answer(realm.objects(Flight.self).where { $0.scheduledDeparture.contains(day) }.count)
        },
    ]
}
