import Martlet

/// Reads of sets and maps. A small collection has 100 elements in a file of any size. A large collection contains all
/// people, or a value for each person.
extension Idiom {
    static let sets: [Idiom] = [
        Idiom("for person in set of 100", .constant) { context in
            let club = context.club(3)
            return try context.measure(34_950) {
                var sum = 0
                for person in club.leaders { sum += person.id }
                return sum
            }
        },
        Idiom("set of 100: contains(person)", .constant) { context in
            let club = context.club(3), person = context.person(380)
            return try context.measure(1) { club.leaders.contains(person) ? 1 : 0 }
        },
        Idiom("set of 100 texts: sorted()", .constant) { context in
            let club = context.club(3)
            return try context.measure(1) { club.words.sorted().first == context.population.key(0) ? 1 : 0 }
        },
        Idiom("set of 100 texts: contains(text)", .constant) { context in
            let club = context.club(3), text = context.population.key(50)
            return try context.measure(1) { club.words.contains(text) ? 1 : 0 }
        },
        Idiom("set of all: count", .constant) { context in
            let archive = context.archive
            return try context.measure(context.count) { archive.chosen.count }
        },
        Idiom("set of all: contains(person)", .logarithmic) { context in
            let chosen = context.archive.chosen
            let people = context.sample.map(context.person)
            return try context.measure(people.count) { people.count { chosen.contains($0) } }
        },
        Idiom("set of all: contains(person) after a write", .logarithmic) { context in
            let chosen = context.archive.chosen, person = context.person(context.count / 2)
            return try context.measure(
                1, before: { round in try context.realm.write { context.person(3).visits = round } },
                execution: { _ in chosen.contains(person) ? 1 : 0 })
        },
        Idiom("for person in set of all { break }", .constant) { context in
            let chosen = context.archive.chosen
            return try context.measure(1) {
                for _ in chosen { return 1 }
                return 0
            }
        },
        Idiom("for person in set of all", .linear) { context in
            let chosen = context.archive.chosen
            return try context.measure(context.population.sum(context.population.age)) {
                var sum = 0
                for person in chosen { sum += person.age }
                return sum
            }
        },
        Idiom("set of all: where of an index, 100 match", .logarithmic) { context in
            let chosen = context.archive.chosen
            return try context.measure(100) { chosen.where { $0.rank < 100 }.count }
        },
        Idiom("set of all texts: contains(text)", .logarithmic) { context in
            let words = context.archive.words
            return try context.measureSample { _ in
                1
            } _: {
                words.contains(context.population.key($0)) ? 1 : 0
            }
        },
        Idiom("set of all texts: first", .constant) { context in
            let words = context.archive.words
            return try context.measure(8) { words.first?.utf8.count ?? 0 }
        },
    ]

    static let maps: [Idiom] = [
        Idiom("for (key, person) in map of 100", .constant) { context in
            let club = context.club(3)
            return try context.measure(34_950) {
                var sum = 0
                for (_, person) in club.roles { sum += person?.id ?? 0 }
                return sum
            }
        },
        Idiom("map of 100: [key]", .constant) { context in
            let club = context.club(3), key = context.population.key(350)
            return try context.measure(350) { (club.roles[key] ?? nil)?.id ?? -1 }
        },
        Idiom("map of 100 numbers: [key]", .constant) { context in
            let club = context.club(3), key = context.population.key(50)
            return try context.measure(50) { Int(club.prices[key] ?? -1) }
        },
        Idiom("map of 100 numbers: sum()", .constant) { context in
            let club = context.club(3)
            return try context.measure(4950) { Int(club.prices.sum()) }
        },
        Idiom("map of all: count", .constant) { context in
            let archive = context.archive
            return try context.measure(context.count) { archive.byKey.count }
        },
        Idiom("map of all: [key]", .logarithmic) { context in
            let byKey = context.archive.byKey
            return try context.measureSample {
                $0
            } _: {
                (byKey[context.population.key($0)] ?? nil)?.id ?? -1
            }
        },
        Idiom("map of all numbers: [key]", .logarithmic) { context in
            let counts = context.archive.counts
            return try context.measureSample {
                $0
            } _: {
                counts[context.population.key($0)] ?? -1
            }
        },
        Idiom("map of all numbers: [key] after a write", .logarithmic) { context in
            let counts = context.archive.counts, key = context.population.key(context.count / 2)
            return try context.measure(
                context.count / 2, before: { round in try context.realm.write { context.person(3).visits = round } },
                execution: { _ in counts[key] ?? -1 })
        },
        Idiom("map of all numbers: [key] after a write of another key", .logarithmic) { context in
            let counts = context.archive.counts, key = context.population.key(context.count / 2)
            return try context.measure(
                context.count / 2,
                before: { _ in try context.realm.write { counts[context.population.key(3)] = 3 } },
                execution: { _ in counts[key] ?? -1 })
        },
        Idiom("map of all numbers: [key], no such key", .logarithmic) { context in
            let counts = context.archive.counts
            return try context.measure(-1) { counts["none"] ?? -1 }
        },
        Idiom("for (key, number) in map of all { break }", .constant) { context in
            let counts = context.archive.counts
            return try context.measure(8) {
                for (key, _) in counts { return key.utf8.count }
                return 0
            }
        },
        Idiom("map of all numbers: keys", .linear) { context in
            let counts = context.archive.counts
            return try context.measure(context.count) { counts.keys.count }
        },
        Idiom("map of all numbers: values", .linear) { context in
            let counts = context.archive.counts
            return try context.measure(context.population.sum { $0 }) { counts.values.reduce(0, +) }
        },
        Idiom("map of all: where of an index, 100 match", .logarithmic) { context in
            let byKey = context.archive.byKey
            return try context.measure(100) { byKey.where { $0.rank < 100 }.count }
        },
    ]
}
