import Martlet
import Measure

func lists(_ job: Job, _ reporter: Reporter) throws {
    let appends = job.count / 10, inserts = appends / 10, reads = 100_000
    let realm = try openWarmRealm(job, [Person.self, Group.self])
    let group = Group(id: 1)
    try realm.write { realm.add(group) }
    // This workload draws random numbers in the same order as the C program `yardstick`, so that both programs build
    // equal lists.
    var sequence = RandomSequence(seed: 5)
    func person() -> Person { realm.object(ofType: Person.self, forPrimaryKey: sequence.next(below: job.count))! }
    let appended = (0..<appends).map { _ in person() }
    let inserted = (0..<inserts).map { (index: sequence.next(below: appends + $0), person: person()) }

    let appending = try duration {
        try realm.write {
            let members = group.members
            for person in appended { members.append(person) }
        }
    }
    reporter.report(
        "list-append", n: appends, nanoseconds: Double(appending) / Double(appends), check: group.members.count)

    let inserting = try duration {
        try realm.write {
            let members = group.members
            for (index, person) in inserted { members.insert(person, at: index) }
        }
    }
    reporter.report(
        "list-insert-middle", n: inserts, nanoseconds: Double(inserting) / Double(inserts),
        check: group.members.count)

    var check = 0
    let members = group.members
    let reading = duration {
        for _ in 0..<reads { check += members[sequence.next(below: members.count)].age }
    }
    reporter.report("list-read-random", n: reads, nanoseconds: Double(reading) / Double(reads), check: check)
}
