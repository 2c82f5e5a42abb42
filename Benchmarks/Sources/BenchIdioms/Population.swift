import Foundation
import Martlet

/// Computes the values of every person from its number, so that the expected answer of an idiom is known without the
/// database.
///
/// `rank` and `place` are permutations of `0..<count`. Among the people with the numbers 0 to 99, and in each further
/// group of 100, each age and each height occurs once. A sum of scores is exact in every order of the summands.
struct Population: Sendable {
    let count: Int
    private let rankFactor: Int
    private let placeFactor: Int
    private let rankInverse: Int
    private let placeInverse: Int

    /// `count` must be a multiple of 1,000.
    init(count: Int) {
        self.count = count
        (rankFactor, placeFactor) = (7_368_787 % count, 5_463_458_053 % count)
        rankInverse = Self.inverse(of: rankFactor, modulo: count)
        placeInverse = Self.inverse(of: placeFactor, modulo: count)
    }

    /// Computes the inverse of `value` modulo `modulo` with the extended Euclidean algorithm.
    private static func inverse(of value: Int, modulo: Int) -> Int {
        var (r, next) = (modulo, value), (t, nextT) = (0, 1)
        while next != 0 {
            let quotient = r / next
            (r, next) = (next, r - quotient * next)
            (t, nextT) = (nextT, t - quotient * nextT)
        }
        precondition(r == 1, "the size has a common factor with a constant of the generator")
        return (t % modulo + modulo) % modulo
    }

    var numbers: Range<Int> { 0..<count }
    var teamCount: Int { count / 100 }
    var letterCount: Int { count / 10 }

    func rank(_ number: Int) -> Int { number * rankFactor % count }
    func place(_ number: Int) -> Int { number * placeFactor % count }
    func number(rank: Int) -> Int { rank * rankInverse % count }
    func number(place: Int) -> Int { place * placeInverse % count }
    func age(_ number: Int) -> Int { (number * 37 + number / 100 * 13) % 100 }
    func height(_ number: Int) -> Int { 100 + (number * 61 + number / 100 * 29) % 100 }
    func isActive(_ number: Int) -> Bool { number / 2 % 2 == 0 }
    func hasFlag(_ number: Int) -> Bool { number % (count / 100) == 0 }
    func level(_ number: Int) -> Level { [.low, .middle, .high][number % 3] }
    func hasAddress(_ number: Int) -> Bool { number % 4 == 0 }

    func name(place: Int) -> String { "Person " + Self.digits(place) }
    func email(rank: Int) -> String { "p" + Self.digits(rank) + "@example.com" }
    func key(_ number: Int) -> String { "k" + Self.digits(number) }
    func teamName(_ number: Int) -> String { "Team " + Self.digits(number) }

    /// The sum of a value over all people.
    func sum(_ value: (Int) -> Int) -> Int { numbers.reduce(0) { $0 + value($1) } }

    /// The number of people for whom the closure returns true.
    func count(_ isCounted: (Int) -> Bool) -> Int { numbers.reduce(0) { $0 + (isCounted($1) ? 1 : 0) } }

    /// The sum of the numbers of the first `limit` people for whom the closure returns true.
    func sumOfFirst(_ limit: Int, where isIncluded: (Int) -> Bool) -> Int {
        numbers.lazy.filter(isIncluded).prefix(limit).reduce(0, +)
    }

    private static func digits(_ number: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, 7 - text.utf8.count)) + text
    }
}

extension Population {
    /// Returns the person with the given number as an unmanaged object. A person with a number of `count` or more is
    /// not in the file, and an idiom adds it.
    func person(_ number: Int, rank: Int? = nil) -> Person {
        let isNew = number >= count
        let place = isNew ? number : place(number)
        let rank = rank ?? (isNew ? number : self.rank(number))
        return Person(
            id: number, name: name(place: place), email: isNew ? "new\(number)@example.com" : email(rank: rank),
            rank: rank, place: place, age: age(number), height: height(number), score: Double(rank) / 4,
            created: Date(timeIntervalSince1970: 1_600_000_000 + Double(place)), isActive: isActive(number),
            flag: !isNew && hasFlag(number), level: level(number), note: number % 2 == 0 ? "note" : nil,
            address: hasAddress(number) ? Address(street: "Street \(number)", city: "City \(number % 10)") : nil)
    }
}
