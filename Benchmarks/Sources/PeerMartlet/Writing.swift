import Martlet
import Measure

private let batch = 10_000

/// Inserts all people and returns the duration in nanoseconds. The duration includes the creation of the objects, but
/// not the computation of their values.
private func insertAll(_ job: Job, _ realm: Realm, _ add: (PersonValues) -> Void) throws -> UInt64 {
    var measured = try duration { try realm.beginWrite() }
    for first in stride(from: 0, to: job.count, by: batch) {
        let people = (first..<min(first + batch, job.count)).map { PersonValues(number: $0) }
        measured += duration {
            for person in people { add(person) }
        }
    }
    return measured + (try duration { try realm.commitWrite() })
}

func insertPeople(_ job: Job, _ reporter: Reporter) throws {
    let realm = try openRealm(job)
    let time = try insertAll(job, realm) { realm.add(Person($0)) }
    let check = realm.objects(Person.self).sum { $0.age }
    reporter.report("insert", n: job.count, nanoseconds: Double(time) / Double(job.count), check: check)
}

func insertPeopleIndexed(_ job: Job, _ reporter: Reporter) throws {
    let realm = try openRealm(job, [IndexedPerson.self])
    let time = try insertAll(job, realm) { realm.add(IndexedPerson($0)) }
    let check = realm.objects(IndexedPerson.self).sum { $0.age }
    reporter.report("insert-indexed", n: job.count, nanoseconds: Double(time) / Double(job.count), check: check)
}

func smallTransactions(_ job: Job, _ reporter: Reporter) throws {
    let transactions = 1000
    let realm = try openRealm(job)
    let time = try duration {
        for number in 0..<transactions {
            try realm.write { realm.add(Person(PersonValues(number: number))) }
        }
    }
    reporter.report(
        "small-transactions", n: transactions, nanoseconds: Double(time) / Double(transactions),
        check: realm.objects(Person.self).count)
}

func updateHeld(_ job: Job, _ reporter: Reporter) throws {
    let realm = try openWarmRealm(job)
    let updates = job.count / 10
    let people = (0..<updates).map { realm.object(ofType: Person.self, forPrimaryKey: $0 * 10)! }
    let time = try duration {
        try realm.write {
            for (index, person) in people.enumerated() { person.age = index % 100 }
        }
    }
    let check = realm.objects(Person.self).sum { $0.age }
    reporter.report("update-held", n: updates, nanoseconds: Double(time) / Double(updates), check: check)
}
