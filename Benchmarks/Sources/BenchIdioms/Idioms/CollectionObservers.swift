import Martlet

/// Writes, each measured together with the call of a collection's observer.
extension Idiom {
    static let collectionObservers = resultsObservers + plannedObservers + propertyObservers

    private static let resultsObservers: [Idiom] = [
        Idiom("observe objects: a modification", .constant) { context in
            let person = context.person(7)
            return try context.measureDelivery(1, of: context.all) { person.visits = $0 }
        },
        Idiom("observe objects: an insertion", .constant) { context in
            try context.measureDelivery(
                100, of: context.all, undo: { context.realm.delete(context.person(context.count + $0)) },
                change: { context.realm.add(context.population.person(context.count + $0)) })
        },
        Idiom("observe objects: a deletion", .constant) { context in
            let people = context.population
            try context.realm.write { context.realm.add(people.person(people.count)) }
            let measurement = try context.measureDelivery(
                10_000, of: context.all,
                undo: { context.realm.add(people.person(people.count + $0 + 1)) },
                change: { context.realm.delete(context.person(people.count + $0)) })
            try context.realm.write {
                context.realm.delete(context.all.where { $0.id >= people.count })
            }
            return measurement
        },
        Idiom("observe where: a modification", .constant) { context in
            let person = context.person(8)
            return try context.measureDelivery(1, of: context.all.where { $0.isActive }) { person.visits = $0 }
        },
        Idiom("observe where: a person begins to match", .constant) { context in
            let person = context.person(8)
            try context.realm.write { person.isActive = false }
            let measurement = try context.measureDelivery(
                100, of: context.all.where { $0.isActive }, undo: { _ in person.isActive = false },
                change: { _ in person.isActive = true })
            try context.realm.write { person.isActive = true }
            return measurement
        },
        Idiom("observe where: a change of a person that does not match", .constant) { context in
            let person = context.person(10)
            return try context.measureDelivery(0, of: context.all.where { $0.isActive }) { person.visits = $0 }
        },
        Idiom("observe sorted by an index: a modification", .constant) { context in
            let person = context.person(7)
            return try context.measureDelivery(1, of: context.all.sorted(by: { $0.rank })) { person.visits = $0 }
        },
        Idiom("observe sorted: a modification", .constant) { context in
            let person = context.person(7)
            return try context.measureDelivery(1, of: context.all.sorted(by: { $0.place })) { person.visits = $0 }
        },
        Idiom("observe sorted: a person moves", .logarithmic) { context in
            let person = context.person(7), place = context.population.place(7)
            return try context.measureDelivery(
                10_100, of: context.all.sorted(by: { $0.place }), undo: { _ in person.place = place },
                change: { _ in person.place = -1 })
        },
        Idiom("observe sorted by a link: a modification", .constant) { context in
            let person = context.person(7)
            return try context.measureDelivery(1, of: context.all.sorted(byKeyPath: "team.name")) {
                person.visits = $0
            }
        },
        Idiom("observe where of a link: a modification", .constant) { context in
            let person = context.person(307)
            return try context.measureDelivery(1, of: context.all.where { $0.team.id == 3 }) { person.visits = $0 }
        },
        Idiom("observe objects: 100 modifications", .constant) { context in
            let people = (0..<100).map { context.person($0 * (context.count / 100)) }
            return try context.measureDelivery(100, of: context.all) { round in
                for person in people { person.visits = round }
            }
        },
        Idiom("observe(keyPaths:) objects: another property", .constant) { context in
            let person = context.person(7)
            return try context.measureDelivery(0, of: context.all, keyPaths: ["name"]) { person.visits = $0 }
        },
        Idiom("observe(keyPaths:) objects: a property of a link", .constant) { context in
            let team = context.team(3), name = context.population.teamName(3)
            return try context.measureDelivery(100, of: context.all, keyPaths: ["team.name"]) { _ in
                team.name = name
            }
        },
        Idiom("observe objects: a linked object changes", .constant) { context in
            let team = context.team(3), name = context.population.teamName(3)
            return try context.measureDelivery(100, of: context.all) { _ in team.name = name }
        },
        Idiom("observe objects: a change of another type", .constant) { context in
            let letter = context.realm.object(ofType: Letter.self, forPrimaryKey: 1)!
            return try context.measureDelivery(0, of: context.all) { letter.text = "letter 1, edition \($0)" }
        },
        Idiom("observeChanges of objects: a modification", .constant) { context in
            let person = context.person(7)
            return try context.measureDelivery(
                1,
                observe: { received in
                    context.all.observeChanges { change in
                        guard case .update(_, let difference) = change else { return }
                        received.total += difference.modifications.count
                    }
                }, change: { person.visits = $0 })
        },
        Idiom("100 observers of where, indexed: a modification", .constant) { context in
            let person = context.person(7), age = context.population.age(7)
            let people = (0..<100).map { number in context.all.where { $0.age == number } }
            let tokens = people.map { $0.observe { _ in } }
            defer { tokens.forEach { $0.invalidate() } }
            return try context.measureDelivery(1, of: people[age]) { person.visits = $0 }
        },
    ]

    private static let plannedObservers: [Idiom] = [
        Idiom("observe sorted.limit(20), indexed: an insertion", .constant) { context in
            try context.measureDelivery(
                10_100, of: context.all.sorted(by: { $0.rank }).limit(20),
                undo: { context.realm.delete(context.person(context.count + $0)) },
                change: { context.realm.add(context.population.person(context.count + $0, rank: -1)) })
        },
        Idiom("observe sorted.limit(20): a modification", .constant) { context in
            let person = context.person(context.population.number(place: 3))
            return try context.measureDelivery(1, of: context.all.sorted(by: { $0.place }).limit(20)) {
                person.visits = $0
            }
        },
        Idiom("observe where.limit(20): a modification", .constant) { context in
            let person = context.person(8)
            return try context.measureDelivery(1, of: context.all.where { $0.isActive }.limit(20)) {
                person.visits = $0
            }
        },
        Idiom("observe distinct(by:): an insertion", .constant) { context in
            try context.measureDelivery(
                0, of: context.all.distinct(by: { $0.age }),
                undo: { context.realm.delete(context.person(context.count + $0)) },
                change: { context.realm.add(context.population.person(context.count + $0)) })
        },
        Idiom("observe sections: a modification", .constant) { context in
            let person = context.person(7)
            return try context.measureDelivery(1, ofSections: context.all.sectioned(by: { $0.age })) {
                person.visits = $0
            }
        },
        Idiom("observe sections: a person changes the section", .constant) { context in
            let person = context.person(7), age = context.population.age(7)
            return try context.measureDelivery(
                10_100, ofSections: context.all.sectioned(by: { $0.age }), undo: { _ in person.age = age },
                change: { _ in person.age = (age + 1) % 100 })
        },
        Idiom("observe one section: a modification", .constant) { context in
            let person = context.person(7)
            guard let section = context.all.sectioned(by: { $0.age }).section(forKey: context.population.age(7))
            else { return try context.measure(1) { 0 } }
            return try context.measureDelivery(1, ofSections: section) { person.visits = $0 }
        },
        Idiom("observe projections: a modification", .constant) { context in
            let person = context.person(7)
            return try context.measureDelivery(1, of: context.realm.objects(PersonCard.self)) { person.visits = $0 }
        },
    ]

    private static let propertyObservers: [Idiom] = [
        Idiom("observe list of 100: a member changes", .constant) { context in
            let person = context.person(307)
            return try context.measureDelivery(1, of: context.club(3).members) { person.visits = $0 }
        },
        Idiom("observe list of all: a member changes", .constant) { context in
            let person = context.person(307)
            return try context.measureDelivery(1, of: context.archive.members) { person.visits = $0 }
        },
        Idiom("observe list of all: append", .constant) { context in
            let members = context.archive.members, person = context.person(307)
            return try context.measureDelivery(
                100, of: members, undo: { _ in members.removeLast() }, change: { _ in members.append(person) })
        },
        Idiom("observe list of all numbers: append", .constant) { context in
            let numbers = context.archive.numbers
            return try context.measureDelivery(
                100, of: numbers, undo: { _ in numbers.removeLast() }, change: { _ in numbers.append(7) })
        },
        Idiom("observe list of all, where: a member changes", .constant) { context in
            let person = context.person(308)
            return try context.measureDelivery(1, of: context.archive.members.where { $0.isActive }) {
                person.visits = $0
            }
        },
        Idiom("observe set of all: a member changes", .constant) { context in
            let person = context.person(307)
            return try context.measureDelivery(1, of: context.archive.chosen) { person.visits = $0 }
        },
        Idiom("observe map of all numbers: one value changes", .constant) { context in
            let counts = context.archive.counts, key = context.population.key(context.count / 2)
            return try context.measureDelivery(
                1,
                observe: { received in
                    counts.observe { change in
                        guard case .update(_, let deletions, let insertions, let modifications) = change else {
                            return
                        }
                        received.add(
                            deletions: deletions.count, insertions: insertions.count,
                            modifications: modifications.count)
                    }
                },
                undo: { _ in counts[key] = context.count / 2 }, change: { _ in counts[key] = -1 })
        },
        Idiom("observe team.people: a modification", .constant) { context in
            let person = context.person(307)
            return try context.measureDelivery(1, of: context.team(3).people) { person.visits = $0 }
        },
        Idiom("observe team.people: a new link", .constant) { context in
            let person = context.person(407), old = context.team(4), new = context.team(3)
            return try context.measureDelivery(
                100, of: new.people, undo: { _ in person.team = old }, change: { _ in person.team = new })
        },
    ]
}
