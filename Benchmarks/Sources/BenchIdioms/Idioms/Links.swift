import Martlet

/// Links, linking objects and embedded objects.
extension Idiom {
    static let links: [Idiom] = [
        Idiom("person.team?.name", .logarithmic) { context in
            let people = context.sample.map(context.person)
            return try context.measure(people.count * 12) {
                people.reduce(0) { $0 + ($1.team?.name.utf8.count ?? 0) }
            }
        },
        Idiom("person.address?.city", .logarithmic) { context in
            let person = context.person(24)
            return try context.measure(1) { person.address?.city == "City 4" ? 1 : 0 }
        },
        Idiom("team.people.count", .constant) { context in
            let team = context.team(3)
            return try context.measure(100) { team.people.count }
        },
        Idiom("team.people.first", .constant) { context in
            let team = context.team(3)
            return try context.measure(300) { team.people.first?.id ?? -1 }
        },
        Idiom("team.people.last", .constant) { context in
            let team = context.team(3)
            return try context.measure(399) { team.people.last?.id ?? -1 }
        },
        Idiom("team.people[50]", .constant) { context in
            let team = context.team(3)
            return try context.measure(350) { team.people[50].id }
        },
        Idiom("team.people.isEmpty", .constant) { context in
            let team = context.team(3)
            return try context.measure(0) { team.people.isEmpty ? 1 : 0 }
        },
        Idiom("for person in team.people", .constant) { context in
            let team = context.team(3)
            return try context.measure(34_950) {
                var sum = 0
                for person in team.people { sum += person.id }
                return sum
            }
        },
        Idiom("team.people.map { $0.name }", .constant) { context in
            let team = context.team(3)
            return try context.measure(100) { team.people.map { $0.name }.count }
        },
        Idiom("team.people.contains(person)", .constant) { context in
            let team = context.team(3), person = context.person(380)
            return try context.measure(1) { team.people.contains(person) ? 1 : 0 }
        },
        Idiom("team.people.where", .constant) { context in
            let team = context.team(3)
            return try context.measure(50) { team.people.where { $0.isActive }.count }
        },
        Idiom("team.people.sorted.first", .constant) { context in
            let team = context.team(3)
            let first = (300..<400).min { context.population.place($0) < context.population.place($1) }
            return try context.measure(first ?? -1) { team.people.sorted(by: { $0.place }).first?.id ?? -1 }
        },
        Idiom("team.people.sum(of:)", .constant) { context in
            let team = context.team(3)
            return try context.measure(4950) { team.people.sum(of: { $0.age }) }
        },
        Idiom("person.clubs.first, linked by a list", .logarithmic) { context in
            let people = context.sample.map(context.person)
            return try context.measure(context.sample.reduce(0) { $0 + $1 / 100 }) {
                people.reduce(0) { $0 + ($1.clubs.first?.id ?? -1) }
            }
        },
        Idiom("for team in teams { team.people.count }", .linear) { context in
            try context.measure(context.count) {
                var sum = 0
                for team in context.realm.objects(Team.self) { sum += team.people.count }
                return sum
            }
        },
        Idiom("for person in objects { person.team?.id }", .linear) { context in
            try context.measure(context.population.sum { $0 / 100 }) {
                var sum = 0
                for person in context.all { sum += person.team?.id ?? 0 }
                return sum
            }
        },
    ]
}
