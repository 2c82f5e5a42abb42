import Martlet

/// Elements at a position, and pages.
extension Idiom {
    static let positions = singleElements + pages

    private static let singleElements: [Idiom] = [
        Idiom("objects.first", .constant) { context in
            try context.measure(0) { context.all.first?.id ?? -1 }
        },
        Idiom("objects.last", .constant) { context in
            try context.measure(context.count - 1) { context.all.last?.id ?? -1 }
        },
        Idiom("objects[0]", .constant) { context in
            try context.measure(0) { context.all[0].id }
        },
        Idiom("objects[n / 2]", .logarithmic) { context in
            try context.measure(context.count / 2) { context.all[context.count / 2].id }
        },
        Idiom("objects[n / 2] of held results", .constant) { context in
            let people = context.all
            return try context.measure(context.count / 2) { people[context.count / 2].id }
        },
        Idiom("objects[random] of held results", .logarithmic) { context in
            let people = context.all
            return try context.measureSample {
                $0
            } _: {
                people[$0].id
            }
        },
        Idiom("objects.randomElement()", .logarithmic) { context in
            try context.measure(1) { context.all.randomElement() == nil ? 0 : 1 }
        },
        Idiom("where.first, many match", .constant) { context in
            let people = context.population
            return try context.measure(people.sumOfFirst(1, where: people.isActive)) {
                context.all.where { $0.isActive }.first?.id ?? -1
            }
        },
        Idiom("where.last, many match", .constant) { context in
            let people = context.population
            return try context.measure(people.numbers.last(where: people.isActive) ?? -1) {
                context.all.where { $0.isActive }.last?.id ?? -1
            }
        },
        Idiom("where[100], many match", .constant) { context in
            let people = context.population
            return try context.measure(people.numbers.lazy.filter(people.isActive).dropFirst(100).first ?? -1) {
                context.all.where { $0.isActive }[100].id
            }
        },
        Idiom("sorted by an index: first", .logarithmic) { context in
            try context.measure(context.population.number(rank: 0)) {
                context.all.sorted(by: { $0.rank }).first?.id ?? -1
            }
        },
        Idiom("sorted by an index: last", .logarithmic) { context in
            try context.measure(context.population.number(rank: context.count - 1)) {
                context.all.sorted(by: { $0.rank }).last?.id ?? -1
            }
        },
        Idiom("sorted by an index: [100]", .logarithmic) { context in
            try context.measure(context.population.number(rank: 100)) {
                context.all.sorted(by: { $0.rank })[100].id
            }
        },
        Idiom("sorted by an index: [random] of held results", .logarithmic) { context in
            let people = context.all.sorted(by: { $0.rank })
            return try context.measureSample {
                context.population.number(rank: $0)
            } _: {
                people[$0].id
            }
        },
        Idiom("sorted: first", .linear) { context in
            try context.measure(context.population.number(place: 0)) {
                context.all.sorted(by: { $0.place }).first?.id ?? -1
            }
        },
        Idiom("sorted: last", .linear) { context in
            try context.measure(context.population.number(place: context.count - 1)) {
                context.all.sorted(by: { $0.place }).last?.id ?? -1
            }
        },
        Idiom("objects.isEmpty", .constant) { context in
            try context.measure(0) { context.all.isEmpty ? 1 : 0 }
        },
        Idiom("where.isEmpty, many match", .constant) { context in
            try context.measure(0) { context.all.where { $0.isActive }.isEmpty ? 1 : 0 }
        },
    ]

    private static let pages: [Idiom] = [
        Idiom("objects.prefix(10)", .constant) { context in
            try context.measure(45) { sum(context.all.prefix(10)) }
        },
        Idiom("objects.suffix(10)", .constant) { context in
            try context.measure(context.count * 10 - 55) { sum(context.all.suffix(10)) }
        },
        Idiom("objects[0..<10]", .constant) { context in
            try context.measure(45) { sum(context.all[0..<10]) }
        },
        Idiom("objects.objects(at: positions)", .logarithmic) { context in
            try context.measure(context.count / 2 * 10 + 45) {
                let first = context.count / 2
                return sum(context.all.objects(at: first..<first + 10))
            }
        },
        Idiom("objects.limit(10)", .constant) { context in
            try context.measure(45) { sum(context.all.limit(10)) }
        },
        Idiom("objects.limit(10, offset: 1000)", .constant) { context in
            try context.measure(10_045) { sum(context.all.limit(10, offset: 1000)) }
        },
        Idiom("where.limit(10), many match", .constant) { context in
            let people = context.population
            return try context.measure(people.sumOfFirst(10, where: people.isActive)) {
                sum(context.all.where { $0.isActive }.limit(10))
            }
        },
        Idiom("where.limit(100), many match", .constant) { context in
            let people = context.population
            return try context.measure(people.sumOfFirst(100, where: people.isActive)) {
                sum(context.all.where { $0.isActive }.limit(100))
            }
        },
        Idiom("where.prefix(10), many match", .constant) { context in
            let people = context.population
            return try context.measure(people.sumOfFirst(10, where: people.isActive)) {
                sum(context.all.where { $0.isActive }.prefix(10))
            }
        },
        Idiom("sorted by an index: limit(100)", .logarithmic) { context in
            try context.measure(firstRanks(100, context)) { sum(context.all.sorted(by: { $0.rank }).limit(100)) }
        },
        Idiom("sorted by an index: prefix(100)", .logarithmic) { context in
            try context.measure(firstRanks(100, context)) { sum(context.all.sorted(by: { $0.rank }).prefix(100)) }
        },
        Idiom("sorted(byKeyPath:) of an index: prefix(100)", .logarithmic) { context in
            try context.measure(firstRanks(100, context)) {
                sum(context.all.sorted(byKeyPath: "rank").prefix(100))
            }
        },
        Idiom("sorted by an index: [0] to [99]", .logarithmic) { context in
            try context.measure(firstRanks(100, context)) {
                let people = context.all.sorted(by: { $0.rank })
                return (0..<100).reduce(0) { $0 + people[$1].id }
            }
        },
        Idiom("where, sorted by an index: limit(10)", .logarithmic) { context in
            let people = context.population
            let ranked = people.numbers.lazy.map { people.number(rank: $0) }.filter(people.isActive)
            return try context.measure(ranked.prefix(10).reduce(0, +)) {
                sum(context.all.where { $0.isActive }.sorted(by: { $0.rank }).limit(10))
            }
        },
        Idiom("sorted: limit(100)", .linear) { context in
            let people = context.population
            return try context.measure((0..<100).reduce(0) { $0 + people.number(place: $1) }) {
                sum(context.all.sorted(by: { $0.place }).limit(100))
            }
        },
        Idiom("sorted: prefix(100)", .linear) { context in
            let people = context.population
            return try context.measure((0..<100).reduce(0) { $0 + people.number(place: $1) }) {
                sum(context.all.sorted(by: { $0.place }).prefix(100))
            }
        },
        Idiom("sorted by a link: limit(10)", .linear) { context in
            try context.measure(45) { sum(context.all.sorted(byKeyPath: "team.name").limit(10)) }
        },
    ]

    private static func sum(_ people: some Sequence<Person>) -> Int { people.reduce(0) { $0 + $1.id } }

    private static func firstRanks(_ limit: Int, _ context: Context) -> Int {
        (0..<limit).reduce(0) { $0 + context.population.number(rank: $1) }
    }
}
