import Foundation
import Martlet

/// Writes the flights of the CSV file in many short transactions.
struct Airport {
    let flights: URL

    /// At most fifty consecutive rows: flights that depart at about the same time. The id of a flight is the number of
    /// its row, counted from 0.
    private typealias Wave = [(id: Int, columns: [Substring])]

    func feed(_ configuration: Realm.Configuration) throws {
        let waves = try readWaves()
        let realm = try Realm(configuration: configuration)
        for (number, wave) in waves.enumerated() {
            try realm.write {
                depart(wave, realm)
                if number >= 1 { correct(waves[number - 1], realm) }
                if number >= 20 { land(waves[number - 20], realm) }
            }
            // The writer pauses after each transaction. It does not wait until the observers have been notified.
            Thread.sleep(forTimeInterval: 0.005)
        }
        try realm.write { realm.add(Feed(isOver: true)) }
    }

    private func readWaves() throws -> [Wave] {
        let lines = try String(contentsOf: flights, encoding: .utf8).split(whereSeparator: \.isNewline).dropFirst()
        let rows = lines.enumerated().map { ($0, $1.split(separator: ",", omittingEmptySubsequences: false)) }
        return stride(from: 0, to: rows.count, by: 50).map { Array(rows[$0..<min($0 + 50, rows.count)]) }
    }

    private func depart(_ wave: Wave, _ realm: Realm) {
        for (id, columns) in wave {
            let departure = Departure(id: id)
            departure.flight = "\(columns[9]) \(columns[10])"
            departure.origin = String(columns[12])
            departure.destination = String(columns[13])
            departure.minutesLate = Int(columns[5])
            realm.add(departure)
        }
    }

    /// Replaces the departure delay with the arrival delay.
    private func correct(_ wave: Wave, _ realm: Realm) {
        for (id, columns) in wave {
            realm.object(ofType: Departure.self, forPrimaryKey: id)?.minutesLate = Int(columns[8])
        }
    }

    private func land(_ wave: Wave, _ realm: Realm) {
        realm.delete(wave.compactMap { realm.object(ofType: Departure.self, forPrimaryKey: $0.id) })
    }
}
