import Dispatch
import Martlet
import Measure

/// One change among the people younger than `limit`, sorted by name: from the transaction's start until the observer,
/// on a queue of its own, has been called with the positions that changed.
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
                ? newPerson(number, besides: job.count) : observedPerson(number, of: job.count, ageBelow: limit)
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
    token.invalidate()
}

func hundredObservers(_ job: Job, _ reporter: Reporter) throws {
    let observers = 100
    let realm = try openWarmRealm(job)
    let queue = DispatchQueue(label: "observer"), called = DispatchSemaphore(value: 0)
    let tokens = (0..<observers).map { age in
        realm.objects(Person.self).where { $0.age == age && $0.isActive }
            .observe(on: queue) { _ in called.signal() }
    }
    for _ in 0..<observers { called.wait() }
    var durations: [UInt64] = []
    var rounds = 0
    var number = job.count / 200
    while rounds < 3 {
        let person = realm.object(ofType: Person.self, forPrimaryKey: number)!
        number += 1
        // Exactly the observers whom a change concerns are called: an inactive person concerns nobody.
        guard person.isActive, person.age != 7 else { continue }
        rounds += 1
        durations.append(
            try duration {
                try realm.write { person.age = 7 }
                called.wait()
                called.wait()
            })
    }
    reporter.report("observers-100", n: observers, nanoseconds: median(durations), check: observers)
    tokens.forEach { $0.invalidate() }
}
