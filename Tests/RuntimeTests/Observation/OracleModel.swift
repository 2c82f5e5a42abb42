import Foundation
import KennelModels
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet
@testable import MartletEngine

/// Random changes of dogs and persons.
///
/// Every assignment to a scalar property writes a value that was never written before. Every change of a link also
/// writes a unique text to another property: `favoriteToy` for the owner, `notes` for the siblings, a person's
/// `lastName` for the friends. So a row was changed if and only if its values differ.
struct RandomChanges {
    var random: SeededRandom
    private var count = 0

    init(_ seed: UInt64) { random = SeededRandom(seed: seed) }

    private mutating func uniqueText() -> String {
        count += 1
        return "\(count)"
    }

    private mutating func letter() -> String { ["A", "B", "C", "D", "E"].randomElement(using: &random) ?? "A" }

    private mutating func name() -> String { "\(letter())-\(uniqueText())" }

    private mutating func age() -> Int {
        count += 1
        return Int.random(in: 0..<10, using: &random) * 1_000_000 + count
    }

    /// Makes one to four changes in one write.
    mutating func write(_ realm: Realm) throws {
        try realm.write {
            for _ in 0..<Int.random(in: 1...4, using: &random) { change(realm) }
        }
    }

    private mutating func change(_ realm: Realm) {
        let dogs = realm.objects(Dog.self)
        let persons = realm.objects(Person.self)
        guard dogs.count > 3, persons.count > 1, let dog = dogs.randomElement(using: &random),
            let person = persons.randomElement(using: &random)
        else { return add(realm) }
        switch Int.random(in: 0..<20, using: &random) {
        case 0...2 where dogs.count < 25: add(realm)
        case 3...4: delete(dog, realm)
        case 5 where persons.count > 2: delete(person, realm)
        case 6...8: dog.age = age()
        case 9...10: dog.name = name()
        case 11: person.firstName = name()
        case 12...14:
            dog.owner = Bool.random(using: &random) ? person : nil
            dog.favoriteToy = uniqueText()
        case 15:
            person.lastName = uniqueText()
            if let friend = persons.randomElement(using: &random) { person.friends.append(friend) }
            if person.friends.count > 2 { person.friends.removeFirst() }
        default: edit(dog, dogs)
        }
    }

    private mutating func add(_ realm: Realm) {
        realm.add(Dog(name: name(), age: age()))
        if realm.objects(Person.self).count < 5 { realm.add(Person(firstName: name())) }
    }

    private mutating func delete(_ dog: Dog, _ realm: Realm) {
        for holder in realm.objects(Dog.self) where holder.siblings.contains(dog) { holder.notes = uniqueText() }
        realm.delete(dog)
    }

    private mutating func delete(_ person: Person, _ realm: Realm) {
        for dog in person.dogs { dog.favoriteToy = uniqueText() }
        for other in realm.objects(Person.self) where other.friends.contains(person) { other.lastName = uniqueText() }
        realm.delete(person)
    }

    private mutating func edit(_ dog: Dog, _ dogs: Results<Dog>) {
        let list = dog.siblings
        dog.notes = uniqueText()
        guard let other = dogs.randomElement(using: &random) else { return }
        if list.isEmpty { return list.append(other) }
        let position = Int.random(in: 0..<list.count, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0...2 where list.count < 4: list.insert(other, at: position)
        case 3: list[position] = other
        // The target differs from the source, because a move without effect would change `notes` but not the list.
        case 4 where list.count > 1: list.move(from: position, to: (position + 1) % list.count)
        case 5 where list.count > 1: list.swapAt(position, (position + 1) % list.count)
        default: list.remove(at: position)
        }
    }
}

/// Key paths to observe. `text` returns the values to which these key paths lead from a dog.
enum ObservedPaths {
    case membership, age, ownerName, siblingNames, fourLevels

    var keyPaths: [String]? {
        switch self {
        case .membership: []
        case .age: ["age"]
        case .ownerName: ["owner.firstName"]
        case .siblingNames: ["siblings.name"]
        case .fourLevels: nil
        }
    }

    func text(_ dog: Dog) -> String {
        switch self {
        case .membership: ""
        case .age: "\(dog.age ?? 0)"
        case .ownerName: "\(dog.favoriteToy) \(dog.owner?.firstName ?? "")"
        case .siblingNames: "\(dog.notes ?? "") \(dog.siblings.map(\.name))"
        case .fourLevels: deep(dog, 4)
        }
    }

    private func deep(_ dog: Dog?, _ levels: Int) -> String {
        guard let dog, levels > 0 else { return "" }
        return "\(dog.name) \(dog.age ?? 0) \(dog.favoriteToy) \(dog.notes ?? "") (\(deep(dog.owner, levels - 1))) "
            + "\(dog.siblings.map { deep($0, levels - 1) })"
    }

    private func deep(_ person: Person?, _ levels: Int) -> String {
        guard let person, levels > 0 else { return "" }
        return "\(person.firstName) \(person.lastName) \(person.friends.map { deep($0, levels - 1) })"
    }
}

extension TestRealm {
    /// Opens another Realm of the same file. It shares nothing but the file with `realm`, like a Realm of another
    /// process.
    func otherProcessRealm() throws -> Realm {
        var others = configuration
        others.scheduler = nil
        let coordinator = try StoreCoordinator(others.options())
        let context = RealmContext(coordinator, others, others.models, .readWrite, .currentThread(), nil)
        context.replaceSnapshot(try coordinator.openSnapshot())
        return Realm(context)
    }
}
