import Foundation
import Martlet

/// The environment of an idiom: a file with a given number of people, and the functions that measure.
///
/// Each idiom runs in a process of its own, with its own Realm.
final class Context {
    let population: Population
    let file: URL
    /// The Realm of the idiom. Its commits do not wait for the disk. The disk takes the same time for every number of
    /// people, and would hide the growth of the remaining time.
    private(set) lazy var realm = open(.off)
    /// A Realm whose commits wait for the disk. A process uses either this Realm or `realm`.
    private(set) lazy var durableRealm = open(.full)
    let clock: MeasuringClock

    init(_ population: Population, file: URL, clock: MeasuringClock) {
        self.population = population
        self.file = file
        self.clock = clock
    }

    private func open(_ durability: Realm.Configuration.Durability) -> Realm {
        do {
            return try Realm(configuration: Self.configuration(file, durability))
        } catch {
            fatalError("the file cannot be opened: \(error)")
        }
    }

    static func configuration(_ file: URL, _ durability: Realm.Configuration.Durability) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: file)
        configuration.durability = durability
        configuration.objectTypes = [Person.self, Team.self, Club.self, Archive.self, Letter.self, Address.self]
        return configuration
    }

    // MARK: What idioms ask

    var count: Int { population.count }
    /// New results of all people.
    var all: Results<Person> { realm.objects(Person.self) }
    var archive: Archive { realm.object(ofType: Archive.self, forPrimaryKey: 0)! }
    func team(_ number: Int) -> Team { realm.object(ofType: Team.self, forPrimaryKey: number)! }
    func club(_ number: Int) -> Club { realm.object(ofType: Club.self, forPrimaryKey: number)! }
    func person(_ number: Int) -> Person { realm.object(ofType: Person.self, forPrimaryKey: number)! }
    /// The numbers of 64 people, spread over all pages of the file.
    var sample: [Int] { (0..<64).map { population.number(place: $0 * (count / 64)) } }

    // MARK: Measuring

    /// Measures one execution of `body`, whose result must be `expected`.
    func measure(_ expected: Int, _ body: () throws -> Int) throws -> Measurement {
        try clock.measure(expected, body)
    }

    /// Measures `body` for each number of the sample. The result is the time of one execution.
    func measureSample(_ expected: (Int) -> Int, _ body: (Int) throws -> Int) throws -> Measurement {
        let sample = sample
        var measurement = try clock.measure(sample.reduce(0) { $0 &+ expected($1) }) {
            var check = 0
            for number in sample { check &+= try body(number) }
            return check
        }
        measurement.nanoseconds /= Double(sample.count)
        return measurement
    }

    /// Measures `body`. The closures `before` and `after` run before and after each execution, and are not measured.
    /// All three closures receive the number of the execution.
    func measure(
        _ expected: Int, before: (Int) throws -> Void = { _ in }, after: (Int) throws -> Void = { _ in },
        execution body: (Int) throws -> Int
    ) throws -> Measurement {
        try clock.measureEach(expected, before, after, body)
    }

    /// Measures `body` inside a write that is rolled back after each execution.
    func measureInWrite(_ expected: Int, _ body: () throws -> Int) throws -> Measurement {
        try measure(
            expected, before: { _ in try realm.beginWrite() }, after: { _ in realm.cancelWrite() },
            execution: { _ in try body() })
    }
}
