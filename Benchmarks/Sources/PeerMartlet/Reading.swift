import Martlet
import Measure

func lookUp(_ job: Job, _ reporter: Reporter) throws {
    let lookups = 100_000
    let realm = try openWarmRealm(job)
    var sequence = RandomSequence(seed: 7)
    var check = 0
    let time = duration {
        for _ in 0..<lookups {
            let person = realm.object(ofType: Person.self, forPrimaryKey: sequence.next(below: job.count))!
            check += person.name.firstByte + person.age + person.email.firstByte
        }
    }
    reporter.report("lookup", n: lookups, nanoseconds: Double(time) / Double(lookups), check: check)
}

func readHeld(_ job: Job, _ reporter: Reporter) throws {
    let held = 10_000, rounds = 100
    let realm = try openWarmRealm(job)
    let step = job.count / held
    let people = (0..<held).map { realm.object(ofType: Person.self, forPrimaryKey: $0 * step)! }
    // The first read of a property reads the row of the object from the database. Only later reads are measured.
    _ = people.reduce(0) { $0 + $1.age }
    var check = 0
    let time = duration {
        for _ in 0..<rounds {
            for person in people { check &+= person.age }
        }
    }
    reporter.report(
        "read-held", n: held, nanoseconds: Double(time) / Double(held * rounds), check: check / rounds)
}

func iterate(_ job: Job, _ reporter: Reporter) throws {
    let realm = try openWarmRealm(job)
    var durations: [UInt64] = []
    var check = 0
    for _ in 0..<3 {
        check = 0
        durations.append(
            duration {
                for person in realm.objects(Person.self) { check += person.age + person.name.firstByte }
            })
    }
    reporter.report("iterate", n: job.count, nanoseconds: median(durations) / Double(job.count), check: check)
}

// Each run creates a new collection, because an existing collection caches its count.
func countFiltered(_ job: Job, _ reporter: Reporter) throws {
    let realm = try openWarmRealm(job)
    try timeCount(job, reporter, "count") {
        realm.objects(Person.self).where { $0.age.contains(40...41) && $0.isActive }.count
    }
}

func countFilteredIndexed(_ job: Job, _ reporter: Reporter) throws {
    let realm = try openRealm(job, [IndexedPerson.self])
    _ = realm.objects(IndexedPerson.self).where { $0.email == "nobody" }.count
    try timeCount(job, reporter, "count-indexed") {
        realm.objects(IndexedPerson.self).where { $0.age.contains(40...41) && $0.isActive }.count
    }
}

private func timeCount(_ job: Job, _ reporter: Reporter, _ workload: String, _ count: () -> Int) throws {
    var durations: [UInt64] = []
    var check = 0
    for _ in 0..<7 { durations.append(duration { check = count() }) }
    reporter.report(workload, n: job.count, nanoseconds: median(durations), check: check)
}

func sortFirst(_ job: Job, _ reporter: Reporter) throws {
    let realm = try openWarmRealm(job)
    let order = [SortDescriptor(keyPath: "age"), SortDescriptor(keyPath: "name")]
    var durations: [UInt64] = []
    var check = 0
    for _ in 0..<5 {
        durations.append(
            duration {
                let people = realm.objects(Person.self).sorted(by: order)
                check = (0..<100).reduce(0) { $0 + people[$1].id }
            })
    }
    reporter.report("sort-first-100", n: job.count, nanoseconds: median(durations), check: check)
}

func openAndRead(_ job: Job, _ reporter: Reporter) throws {
    var durations: [UInt64] = []
    var check = 0
    for _ in 0..<15 {
        let start = nanoseconds()
        let realm = try openRealm(job)
        check = realm.object(ofType: Person.self, forPrimaryKey: job.count / 2)!.age
        durations.append(nanoseconds() - start)
        // The Realm stays open until this line, so that the measurement does not include closing the file.
        withExtendedLifetime(realm) {}
    }
    reporter.report("open-first", n: job.count, nanoseconds: Double(durations[0]), check: check)
    reporter.report("open", n: job.count, nanoseconds: median(durations), check: check)
}
