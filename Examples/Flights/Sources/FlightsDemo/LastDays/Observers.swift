import Foundation
import Martlet

/// Observers of the Realm, of collections and of an object. The observers of the object print each notification. The
/// other observers count the changes. `printHour` and `printTotals` print the counts.
final class Observers {
    private let realm: Realm
    private var tokens: [NotificationToken] = []
    private var commits = 0
    private var late: Results<Flight>
    private var lateChanges = Tally()
    private var arrivals = Tally()
    private var totals = Tally()
    private var totalCommits = 0

    /// The numbers of changes that a collection observer has received.
    private struct Tally {
        var calls = 0, deletions = 0, insertions = 0, modifications = 0

        mutating func add(_ deletions: [Int], _ insertions: [Int], _ modifications: [Int]) {
            calls += 1
            self.deletions += deletions.count
            self.insertions += insertions.count
            self.modifications += modifications.count
        }

        var text: String { "+\(insertions) −\(deletions) ~\(modifications)" }
    }

    /// Observes the flights that are scheduled for `start` or later.
    init(realm: Realm, from start: Date) {
        self.realm = realm
        let flights = realm.objects(Flight.self).where { $0.scheduledDeparture >= start }
        late = flights.where { $0.departureDelay > 60 }
            .sorted(by: [SortDescriptor(keyPath: "departureDelay", ascending: false), SortDescriptor(keyPath: "id")])
        observeRealm()
        observeLateFlights()
        observeArrivals(of: flights)
        realm.refresh()
    }

    private func observeRealm() {
        tokens.append(
            realm.observe { [unowned self] _, _ in
                commits += 1
                totalCommits += 1
            })
    }

    /// Observes a sorted and filtered collection. It contains a flight as soon as its delay exceeds 60 minutes.
    private func observeLateFlights() {
        tokens.append(
            late.observe { [unowned self] change in
                switch change {
                case .initial(let flights): print("  late flights so far: \(flights.count)")
                case .update(_, let deletions, let insertions, let modifications):
                    lateChanges.add(deletions, insertions, modifications)
                    totals.add(deletions, insertions, modifications)
                case .error(let error): print("  late flights: \(error)")
                }
            })
    }

    /// Observes only the property `arrivalDelay`. The observer receives a modification when a flight lands, and none
    /// when a flight takes off.
    private func observeArrivals(of flights: Results<Flight>) {
        tokens.append(
            flights.observe(keyPaths: ["arrivalDelay"]) { [unowned self] change in
                guard case .update(_, let deletions, let insertions, let modifications) = change else { return }
                arrivals.add(deletions, insertions, modifications)
            })
    }

    /// Observes a flight. One observer prints the changed properties. When the departure delay changes, a second
    /// observer prints values of a projection of the flight.
    func watch(flight id: Int) {
        guard let flight = realm.object(ofType: Flight.self, forPrimaryKey: id) else { return }
        print("  watching \(flight.label), \(flight.scheduledDepartureTime)")
        tokens.append(
            flight.observe { change in
                switch change {
                case .change(let flight, let properties):
                    let changes = properties.map { "\($0.name) \(Self.text($0.oldValue)) → \(Self.text($0.newValue))" }
                    print("    \(flight.label): \(changes.joined(separator: ", "))")
                case .deleted: print("    the flight was deleted")
                case .error(let error): print("    flight: \(error)")
                }
            })
        let card = FlightCard(projecting: flight)
        tokens.append(
            flight.observe(keyPaths: ["departureDelay"]) { change in
                guard case .change = change else { return }
                print(
                    "    card: \(card.airlineName ?? "?") to \(card.destinationName ?? "?"), \(card.delay ?? 0) min late"
                )
            })
    }

    func printHour(_ hour: String) {
        let worst = late.first.map { ", worst \($0.label) \($0.departureDelay ?? 0) min" } ?? ""
        print(
            "  \(hour.padded(to: 15)) \("\(commits)".padded(to: 3, left: true)) commits | landed ~\(arrivals.modifications)"
                + " | late \(lateChanges.text), now \(late.count)\(worst)")
        commits = 0
        lateChanges = Tally()
        arrivals = Tally()
    }

    func printTotals() {
        print("  \(totalCommits.grouped) commits; the late flights changed \(totals.calls) times: \(totals.text)")
        tokens.forEach { $0.invalidate() }
    }

    private static func text(_ value: Any?) -> String { value.map { "\($0)" } ?? "nil" }
}
