import Martlet

/// Queries. Either an index finds a few matching objects, or a fixed fraction of all objects matches.
extension Idiom {
    static let queries: [Idiom] = [
        Idiom("where of an indexed range, 100 match", .logarithmic) { context in
            try context.measure((0..<100).reduce(0) { $0 + context.population.number(rank: $1) }) {
                sum(context.all.where { $0.rank.contains(0..<100) })
            }
        },
        Idiom("where of an indexed flag, 100 match", .logarithmic) { context in
            try context.measure(context.count / 100 * 4950) { sum(context.all.where { $0.flag }) }
        },
        Idiom("where in 100 indexed values", .logarithmic) { context in
            let ranks = Array(0..<100)
            return try context.measure(ranks.reduce(0) { $0 + context.population.number(rank: $1) }) {
                sum(context.all.where { $0.rank.in(ranks) })
            }
        },
        Idiom("where in 100 keys", .logarithmic) { context in
            let ids = (0..<100).map { $0 * (context.count / 100) }
            return try context.measure(ids.reduce(0, +)) { sum(context.all.where { $0.id.in(ids) }) }
        },
        Idiom("where { $0.email.starts(with:) }, indexed, 100 match", .logarithmic) { context in
            try context.measure((100..<200).reduce(0) { $0 + context.population.number(rank: $1) }) {
                sum(context.all.where { $0.email.starts(with: "p00001") })
            }
        },
        Idiom("where of one indexed and one other property", .logarithmic) { context in
            let people = context.population
            let matching = (0..<100).map { people.number(rank: $0) }.filter(people.isActive)
            return try context.measure(matching.reduce(0, +)) {
                sum(context.all.where { $0.rank < 100 && $0.isActive })
            }
        },
        Idiom("where of two indexed properties with ||", .logarithmic) { context in
            let people = context.population
            let ids = Set((0..<100).map { people.number(rank: $0) } + people.numbers.filter(people.hasFlag))
            return try context.measure(ids.reduce(0, +)) {
                sum(context.all.where { $0.rank < 100 || $0.flag })
            }
        },
        Idiom("where of where, indexed", .logarithmic) { context in
            let people = context.population
            let matching = (0..<100).map { people.number(rank: $0) }.filter(people.isActive)
            return try context.measure(matching.reduce(0, +)) {
                sum(context.all.where { $0.isActive }.where { $0.rank < 100 })
            }
        },
        Idiom("where of a link: { $0.team == team }", .logarithmic) { context in
            let team = context.team(3)
            return try context.measure(34_950) { sum(context.all.where { $0.team == team }) }
        },
        Idiom("where of an indexed property of a link", .logarithmic) { context in
            let name = context.population.teamName(3)
            return try context.measure(34_950) { sum(context.all.where { $0.team.name == name }) }
        },
        Idiom("where of the key of a link", .logarithmic) { context in
            try context.measure(34_950) { sum(context.all.where { $0.team.id == 3 }) }
        },
        Idiom("where of an embedded object", .linear) { context in
            let people = context.population
            return try context.measure(people.count { people.hasAddress($0) && $0 % 10 == 4 }) {
                context.all.where { $0.address.city == "City 4" }.count
            }
        },
        Idiom("where of an enum", .linear) { context in
            try context.measure((context.count + 1) / 3) { context.all.where { $0.level == .middle }.count }
        },
        Idiom("where { $0.name.contains(text) }", .linear) { context in
            try context.measure(1) { context.all.where { $0.name.contains("0000123") }.count }
        },
        Idiom("where { $0.name.contains(text, caseInsensitive) }", .linear) { context in
            try context.measure(1) {
                context.all.where { $0.name.contains("PERSON 0000123", options: .caseInsensitive) }.count
            }
        },
        Idiom("where { $0.name.like(pattern) }", .linear) { context in
            try context.measure(1) { context.all.where { $0.name.like("*0000123") }.count }
        },
        Idiom("where { $0.note == nil }", .linear) { context in
            try context.measure(context.count / 2) { context.all.where { $0.note == nil }.count }
        },
        Idiom("where { $0.members.age == … }, some member", .constant) { context in
            try context.measure(0) {
                context.realm.objects(Club.self).where { $0.members.age == 5 }.first?.id ?? -1
            }
        },
        Idiom("where { $0.members.age == … }, count", .linear) { context in
            try context.measure(context.population.teamCount) {
                context.realm.objects(Club.self).where { $0.members.age == 5 }.count
            }
        },
        Idiom("where { $0.members.rank == … }, indexed", .logarithmic) { context in
            let number = context.population.number(rank: 20)
            return try context.measure(number / 100) {
                context.realm.objects(Club.self).where { $0.members.rank == 20 }.first?.id ?? -1
            }
        },
        Idiom("where { $0.members.contains(person) }", .logarithmic) { context in
            let person = context.person(context.count / 2)
            return try context.measure(context.count / 200) {
                context.realm.objects(Club.self).where { $0.members.contains(person) }.first?.id ?? -1
            }
        },
        Idiom("where { $0.members.count > … }", .linear) { context in
            try context.measure(context.population.teamCount) {
                context.realm.objects(Club.self).where { $0.members.count > 50 }.count
            }
        },
        Idiom("where { $0.numbers.contains(value) }", .linear) { context in
            try context.measure(10) { context.realm.objects(Club.self).where { $0.numbers.contains(5) }.count }
        },
        Idiom("where { $0.text.matches(word) }, 10 match", .logarithmic) { context in
            try context.measure(10) { context.realm.objects(Letter.self).where { $0.text.matches("zebras") }.count }
        },
    ]

    private static func sum(_ people: some Sequence<Person>) -> Int { people.reduce(0) { $0 + $1.id } }
}
