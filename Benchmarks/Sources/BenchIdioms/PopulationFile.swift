import Foundation
import Martlet

/// Writes the file of a population.
struct PopulationFile {
    let population: Population
    let realm: Realm
    private let batch = 10_000

    /// Writes the file if it is missing or incomplete. The last write creates the archive, so a file that contains an
    /// archive is complete.
    static func write(_ population: Population, to url: URL) throws {
        let configuration = Context.configuration(url, .off)
        if Realm.fileExists(for: configuration) {
            guard try Realm(configuration: configuration).objects(Archive.self).isEmpty else { return }
            _ = try Realm.deleteFiles(for: configuration)
        }
        try PopulationFile(population: population, realm: Realm(configuration: configuration)).writeAll()
    }

    private func writeAll() throws {
        try realm.write {
            for number in 0..<population.teamCount {
                realm.add(Team(id: number, name: population.teamName(number)))
                realm.add(Club(id: number))
            }
        }
        for first in stride(from: 0, to: population.count, by: batch) {
            try realm.write { writePeople(first..<min(first + batch, population.count)) }
        }
        try realm.write { writeSmallCollections() }
        try realm.write { writeLetters() }
        try realm.write { writeArchive() }
    }

    private func club(_ number: Int) -> Club? { realm.object(ofType: Club.self, forPrimaryKey: number) }

    private func writePeople(_ numbers: Range<Int>) {
        for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 100) {
            guard let club = club(first / 100) else { continue }
            let team = realm.object(ofType: Team.self, forPrimaryKey: first / 100)
            let people = (first..<first + 100).map { population.person($0) }
            for person in people { person.team = team }
            realm.add(people)
            club.members.append(objectsIn: people)
        }
    }

    /// Only the first ten clubs have values in their other collections.
    private func writeSmallCollections() {
        for number in 0..<10 {
            guard let club = club(number) else { continue }
            let members = Array(club.members)
            club.leaders.insert(objectsIn: members)
            club.roles.merge(Dictionary(uniqueKeysWithValues: members.map { (population.key($0.id), $0) }))
            club.numbers.append(objectsIn: 0..<100)
            club.words.insert(objectsIn: (0..<100).map(population.key))
            club.prices.merge(Dictionary(uniqueKeysWithValues: (0..<100).map { (population.key($0), Double($0)) }))
        }
    }

    /// Ten letters contain a rare word.
    private func writeLetters() {
        for number in 0..<population.letterCount {
            let isRare = number % (population.letterCount / 10) == 0
            realm.add(Letter(id: number, text: "letter \(number) about \(isRare ? "zebras" : "horses")"))
        }
    }

    /// Adds the archive. Its collections contain all people, or a value for each person. The list of people is in
    /// descending order of their numbers.
    private func writeArchive() {
        let archive = Archive(id: 0)
        realm.add(archive)
        let people = realm.objects(Person.self)
        archive.members.append(objectsIn: people.reversed())
        archive.chosen.insert(objectsIn: people)
        archive.byKey.merge(Dictionary(uniqueKeysWithValues: people.map { (population.key($0.id), $0) }))
        archive.numbers.append(objectsIn: population.numbers.map(population.age))
        archive.words.insert(objectsIn: population.numbers.map(population.key))
        archive.counts.merge(
            Dictionary(uniqueKeysWithValues: population.numbers.map { (population.key($0), $0) }))
    }
}
