import Dispatch
import Martlet
import Measure
import Synchronization

/// Measures one change among the people younger than `limit`, sorted by name. The measurement starts with the
/// transaction. It ends when the observer, on its own queue, has received the changed positions.
func observe(_ job: Job, _ reporter: Reporter, ageBelow limit: Int) throws {
    let realm = try openWarmRealm(job)
    let queue = DispatchQueue(label: "observer"), called = DispatchSemaphore(value: 0)
    let results = realm.objects(Person.self).where { $0.age < limit }
        .sorted(by: [SortDescriptor(keyPath: "name"), SortDescriptor(keyPath: "id")])
    let token = results.observe(on: queue) { change in
        if case .error(let error) = change { fatalError("\(error)") }
        called.signal()
    }
    called.wait()
    for (position, operation) in ["modify", "insert", "delete"].enumerated() {
        var durations: [UInt64] = []
        for round in 0..<5 {
            let number = position * 1000 + round
            let values =
                operation == "insert"
                ? newPerson(number, storedCount: job.count) : observedPerson(number, of: job.count, ageBelow: limit)
            let object = realm.object(ofType: Person.self, forPrimaryKey: values.id)
            durations.append(
                try duration {
                    try realm.write {
                        switch operation {
                        case "insert": realm.add(Person(values))
                        case "delete": realm.delete(object!)
                        default: object!.score = values.score + 0.5
                        }
                    }
                    called.wait()
                })
        }
        let n = realm.objects(Person.self).where { $0.age < limit }.count
        reporter.report("observe-\(limit)-\(operation)", n: n, nanoseconds: median(durations), check: n)
    }
    if limit == 100 { try observeThousand(job, reporter, realm, called) }
    token.invalidate()
}

/// Measures one transaction that modifies a thousand people. They are evenly distributed among all people.
private func observeThousand(_ job: Job, _ reporter: Reporter, _ realm: Realm, _ called: DispatchSemaphore) throws {
    var durations: [UInt64] = []
    for round in 0..<5 {
        let people = thousandPeople(round: round, of: job.count)
            .compactMap { realm.object(ofType: Person.self, forPrimaryKey: $0) }
        durations.append(
            try duration {
                try realm.write {
                    for person in people { person.score = Double(round) + 0.25 }
                }
                called.wait()
            })
    }
    let n = realm.objects(Person.self).count
    reporter.report("observe-thousand", n: n, nanoseconds: median(durations), check: n)
}

func hundredObservers(_ job: Job, _ reporter: Reporter) throws {
    try observeAges(job, reporter, observers: 1)
    try observeAges(job, reporter, observers: 100)
}

/// Measures a change while `observers` different queries are observed. The first query is for age 7. In each round, the
/// age of one person becomes 7.
private func observeAges(_ job: Job, _ reporter: Reporter, observers: Int) throws {
    let realm = try openWarmRealm(job)
    let queue = DispatchQueue(label: "observer"), called = DispatchSemaphore(value: 0)
    let tokens = (0..<observers).map { number in
        let age = (number + 7) % 100
        return realm.objects(Person.self).where { $0.age == age && $0.isActive }
            .observe(on: queue) { _ in called.signal() }
    }
    for _ in 0..<observers { called.wait() }
    var durations: [UInt64] = []
    var rounds = 0
    var number = job.count / 200 + observers * 10
    while rounds < 9 {
        let person = realm.object(ofType: Person.self, forPrimaryKey: number)!
        number += 1
        // Martlet calls only the observers of affected queries. The loop skips inactive people, because they match no
        // query, and people of age 7, because their age would not change.
        guard person.isActive, person.age != 7 else { continue }
        rounds += 1
        durations.append(
            try duration {
                try realm.write { person.age = 7 }
                called.wait()
                // With 100 observers, the query for the person's previous age is observed too, and its observer is also
                // called.
                if observers == 100 { called.wait() }
            })
    }
    reporter.report("observers-\(observers)", n: observers, nanoseconds: median(durations), check: observers)
    tokens.forEach { $0.invalidate() }
}

/// Measures a change of one object while one object, or 10,000 objects, are observed individually.
func objectObservers(_ job: Job, _ reporter: Reporter) throws {
    for observed in [1, 10_000] {
        let realm = try openWarmRealm(job)
        let queue = DispatchQueue(label: "observer"), called = DispatchSemaphore(value: 0)
        let people = (0..<observed).map { realm.object(ofType: Person.self, forPrimaryKey: $0)! }
        let calls = Mutex(0)
        let tokens = people.map { person in
            person.observe(on: queue) { (_: ObjectChange<Person>) in
                calls.withLock { $0 += 1 }
                called.signal()
            }
        }
        queue.sync {}
        var durations: [UInt64] = []
        for round in 0..<5 {
            durations.append(
                try duration {
                    try realm.write { people[observed / 2].score = -1 - Double(round) }
                    called.wait()
                })
        }
        reporter.report(
            "object-observers-\(observed)", n: observed, nanoseconds: median(durations), check: calls.withLock { $0 })
        tokens.forEach { $0.invalidate() }
    }
}
