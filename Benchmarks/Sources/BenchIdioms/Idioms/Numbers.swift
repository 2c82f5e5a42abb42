import Martlet

/// Counts, sums and other aggregates of results.
extension Idiom {
    static let counts: [Idiom] = [
        Idiom("objects.count", .constant) { context in
            try context.measure(context.count) { context.all.count }
        },
        Idiom("objects.count after a write", .constant) { context in
            try context.measure(
                context.count,
                before: { round in try context.realm.write { context.person(3).visits = round } },
                execution: { _ in context.all.count })
        },
        Idiom("objects.count of held results after a write to another type", .constant) { context in
            let people = context.all
            return try context.measure(
                context.count,
                before: { _ in try context.realm.write { context.team(3).name = context.population.teamName(3) } },
                execution: { _ in people.count })
        },
        Idiom("where.count of held results after a write to another type", .constant) { context in
            let people = context.all.where { $0.isActive }
            return try context.measure(
                context.count / 2,
                before: { _ in try context.realm.write { context.team(3).name = context.population.teamName(3) } },
                execution: { _ in people.count })
        },
        Idiom("where.count", .linear) { context in
            try context.measure(context.count / 2) { context.all.where { $0.isActive }.count }
        },
        Idiom("where.count of a range and a flag", .linear) { context in
            let people = context.population
            return try context.measure(people.count { people.isActive($0) && (140...141).contains(people.height($0)) })
            {
                context.all.where { $0.height.contains(140...141) && $0.isActive }.count
            }
        },
        Idiom("where.count of an index, 1 % match", .linear) { context in
            try context.measure(context.count / 100) { context.all.where { $0.age == 40 }.count }
        },
        Idiom("where.count of an index, 100 match", .logarithmic) { context in
            try context.measure(100) { context.all.where { $0.flag }.count }
        },
        Idiom("where of an index: isEmpty", .logarithmic) { context in
            try context.measure(1) { context.all.where { $0.rank == -1 }.isEmpty ? 1 : 0 }
        },
        Idiom("objects.count { closure }", .linear) { context in
            try context.measure(context.count / 2) { context.all.count { $0.isActive } }
        },
    ]

    static let aggregates: [Idiom] = [
        Idiom("objects.sum(of: integer)", .linear) { context in
            try context.measure(context.population.sum(context.population.height)) {
                context.all.sum(of: { $0.height })
            }
        },
        Idiom("objects.sum(of: double)", .linear) { context in
            try context.measure(context.count * (context.count - 1) / 8) {
                Int(context.all.sum(of: { $0.score }))
            }
        },
        Idiom("objects.average(of:)", .linear) { context in
            try context.measure(1495) { Int((context.all.average(of: { $0.height }) ?? 0) * 10) }
        },
        Idiom("objects.max(of:), not indexed", .linear) { context in
            try context.measure(context.count - 1) { context.all.max(of: { $0.place }) ?? -1 }
        },
        Idiom("objects.min(of:), indexed", .logarithmic) { context in
            try context.measure(0) { context.all.min(of: { $0.rank }) ?? -1 }
        },
        Idiom("objects.max(of:), indexed", .logarithmic) { context in
            try context.measure(context.count - 1) { context.all.max(of: { $0.rank }) ?? -1 }
        },
        Idiom("objects.max(of: text), indexed", .logarithmic) { context in
            let email = context.population.email(rank: context.count - 1)
            return try context.measure(1) { context.all.max(of: { $0.email }) == email ? 1 : 0 }
        },
        Idiom("objects.sum(ofProperty:)", .linear) { context in
            try context.measure(context.population.sum(context.population.height)) {
                context.all.sum(ofProperty: "height")
            }
        },
        Idiom("where.sum(of:)", .linear) { context in
            let people = context.population
            return try context.measure(people.sum { people.isActive($0) ? people.height($0) : 0 }) {
                context.all.where { $0.isActive }.sum(of: { $0.height })
            }
        },
        Idiom("where of an index, 100 match: sum(of:)", .logarithmic) { context in
            let people = context.population
            return try context.measure((0..<100).reduce(0) { $0 + people.height(people.number(rank: $1)) }) {
                context.all.where { $0.rank < 100 }.sum(of: { $0.height })
            }
        },
        Idiom("objects.sum(of: a property of a link)", .linear) { context in
            let teams = context.population.teamCount
            return try context.measure(teams * (teams - 1) * 50) { context.all.sum(of: { $0.team.id }) }
        },
    ]
}
