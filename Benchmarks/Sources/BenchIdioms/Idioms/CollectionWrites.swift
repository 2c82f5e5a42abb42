import Martlet

/// Changes of collections, measured inside a write that is rolled back afterwards, and deletions of objects.
extension Idiom {
    static let collectionWrites: [Idiom] = [
        Idiom("list of 100: append(person)", .logarithmic) { context in
            let members = context.club(3).members, person = context.person(5)
            return try context.measureInWrite(101) {
                members.append(person)
                return members.count
            }
        },
        Idiom("list of all: append(person)", .logarithmic) { context in
            let members = context.archive.members, person = context.person(5)
            return try context.measureInWrite(context.count + 1) {
                members.append(person)
                return members.count
            }
        },
        Idiom("list of all: insert(person, at: 0)", .logarithmic) { context in
            let members = context.archive.members, person = context.person(5)
            return try context.measureInWrite(5) {
                members.insert(person, at: 0)
                return members[0].id
            }
        },
        Idiom("list of all: insert(person, at: n / 2)", .logarithmic) { context in
            let members = context.archive.members, person = context.person(5)
            return try context.measureInWrite(5) {
                members.insert(person, at: context.count / 2)
                return members[context.count / 2].id
            }
        },
        Idiom("list of all: remove(at: n / 2)", .logarithmic) { context in
            let members = context.archive.members
            return try context.measureInWrite(context.count - 1) {
                members.remove(at: context.count / 2)
                return members.count
            }
        },
        Idiom("list of all: removeLast()", .logarithmic) { context in
            let members = context.archive.members
            return try context.measureInWrite(context.count - 1) {
                members.removeLast()
                return members.count
            }
        },
        Idiom("list of all: move(from: 0, to: n / 2)", .logarithmic) { context in
            let members = context.archive.members
            return try context.measureInWrite(context.count - 1) {
                members.move(from: 0, to: context.count / 2)
                return members[context.count / 2].id
            }
        },
        Idiom("list of all: [n / 2] = person", .logarithmic) { context in
            let members = context.archive.members, person = context.person(5)
            return try context.measureInWrite(5) {
                members[context.count / 2] = person
                return members[context.count / 2].id
            }
        },
        Idiom("list of all numbers: append(number), committed", .logarithmic) { context in
            let numbers = context.archive.numbers
            return try context.measure(
                7,
                after: { _ in try context.realm.write { numbers.removeLast() } },
                execution: { _ in
                    try context.realm.write { numbers.append(7) }
                    return numbers.last ?? -1
                })
        },
        Idiom("set of all: insert(person)", .logarithmic) { context in
            let chosen = context.archive.chosen
            return try context.measure(
                context.count + 1,
                before: { round in
                    try context.realm.beginWrite()
                    context.realm.add(context.population.person(context.count + round))
                },
                after: { _ in context.realm.cancelWrite() },
                execution: { round in
                    chosen.insert(context.person(context.count + round))
                    return chosen.count
                })
        },
        Idiom("set of all: remove(person)", .logarithmic) { context in
            let chosen = context.archive.chosen, person = context.person(context.count / 2)
            return try context.measureInWrite(context.count - 1) {
                chosen.remove(person)
                return chosen.count
            }
        },
        Idiom("set of all texts: insert(text)", .logarithmic) { context in
            let words = context.archive.words
            return try context.measureInWrite(context.count + 1) {
                words.insert("new")
                return words.count
            }
        },
        Idiom("map of all numbers: [key] = number", .logarithmic) { context in
            let counts = context.archive.counts, key = context.population.key(context.count / 2)
            return try context.measureInWrite(-7) {
                counts[key] = -7
                return counts[key] ?? 0
            }
        },
        Idiom("map of all numbers: [key] = nil", .logarithmic) { context in
            let counts = context.archive.counts, key = context.population.key(context.count / 2)
            return try context.measureInWrite(context.count - 1) {
                counts[key] = nil
                return counts.count
            }
        },
        Idiom("list of 100 = other list", .logarithmic) { context in
            let club = context.club(3), other = context.club(4)
            return try context.measureInWrite(100) {
                club.members = other.members
                return club.members.count
            }
        },
    ]

    static let deletions: [Idiom] = [
        Idiom("delete a person", .logarithmic) { context in
            try measureDeletion(context) { _ in }
        },
        Idiom("delete a person in a list of 100", .logarithmic) { context in
            try measureDeletion(context) { context.club(3).members.append($0) }
        },
        Idiom("delete a person at the end of the list of all", .logarithmic) { context in
            try measureDeletion(context) { context.archive.members.append($0) }
        },
        Idiom("delete a person in the set of all", .logarithmic) { context in
            try measureDeletion(context) { context.archive.chosen.insert($0) }
        },
        Idiom("delete a person in the middle of all collections", .logarithmic) { context in
            let person = context.person(context.count / 2)
            return try context.measureInWrite(context.count - 1) {
                context.realm.delete(person)
                return context.archive.members.count
            }
        },
        Idiom("delete a club with a list of 100", .logarithmic) { context in
            let people = (0..<100).map(context.person)
            return try context.measure(
                1,
                before: { round in
                    try context.realm.write {
                        context.realm.add(Club(id: context.count + round, members: people))
                    }
                },
                execution: { round in
                    let club = context.club(context.count + round)
                    try context.realm.write { context.realm.delete(club) }
                    return club.isInvalidated ? 1 : 0
                })
        },
        Idiom("delete 100 people of where, indexed", .logarithmic) { context in
            try context.measureInWrite(context.count - 100) {
                context.realm.delete(context.all.where { $0.flag })
                return context.archive.members.count
            }
        },
    ]

    /// Measures the deletion of a new person, after `prepare` has linked the person.
    private static func measureDeletion(
        _ context: Context, prepare: (Person) -> Void
    ) throws -> Measurement {
        try context.measure(
            1,
            before: { round in
                try context.realm.write {
                    let person = context.population.person(context.count + round)
                    context.realm.add(person)
                    prepare(person)
                }
            },
            execution: { round in
                let person = context.person(context.count + round)
                try context.realm.write { context.realm.delete(person) }
                return person.isInvalidated ? 1 : 0
            })
    }
}
