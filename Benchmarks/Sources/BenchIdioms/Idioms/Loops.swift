import Martlet

/// Loops and other calls that read elements one after the other.
extension Idiom {
    static let loops = wholeLoops + endedLoops

    private static let wholeLoops: [Idiom] = [
        Idiom("for person in objects", .linear) { context in
            try context.measure(context.population.sum(context.population.age)) {
                var sum = 0
                for person in context.all { sum += person.age }
                return sum
            }
        },
        Idiom("for person in where", .linear) { context in
            let people = context.population
            return try context.measure(people.sum { people.isActive($0) ? people.age($0) : 0 }) {
                var sum = 0
                for person in context.all.where({ $0.isActive }) { sum += person.age }
                return sum
            }
        },
        Idiom("for person in sorted by an index", .linear) { context in
            try context.measure(context.population.sum(context.population.age)) {
                var sum = 0
                for person in context.all.sorted(by: { $0.rank }) { sum += person.age }
                return sum
            }
        },
        Idiom("for person in sorted", .linear) { context in
            try context.measure(context.population.sum(context.population.age)) {
                var sum = 0
                for person in context.all.sorted(by: { $0.place }) { sum += person.age }
                return sum
            }
        },
        Idiom("for (index, person) in objects.enumerated()", .linear) { context in
            try context.measure(context.population.sum { $0 * 2 }) {
                var sum = 0
                for (index, person) in context.all.enumerated() { sum += index + person.id }
                return sum
            }
        },
        Idiom("for index in objects.indices", .linear) { context in
            try context.measure(context.population.sum(context.population.age)) {
                let people = context.all
                var sum = 0
                for index in people.indices { sum += people[index].age }
                return sum
            }
        },
        Idiom("for person in objects.reversed()", .linear) { context in
            try context.measure(context.population.sum(context.population.age)) {
                var sum = 0
                for person in context.all.reversed() { sum += person.age }
                return sum
            }
        },
        Idiom("objects.forEach", .linear) { context in
            try context.measure(context.population.sum(context.population.age)) {
                var sum = 0
                context.all.forEach { sum += $0.age }
                return sum
            }
        },
        Idiom("objects.map { $0.name }", .linear) { context in
            try context.measure(context.count) { context.all.map { $0.name }.count }
        },
        Idiom("objects.compactMap { $0.note }", .linear) { context in
            try context.measure(context.count / 2) { context.all.compactMap { $0.note }.count }
        },
        Idiom("objects.filter { $0.isActive }", .linear) { context in
            try context.measure(context.count / 2) { context.all.filter { $0.isActive }.count }
        },
        Idiom("objects.reduce", .linear) { context in
            try context.measure(context.population.sum(context.population.height)) {
                context.all.reduce(0) { $0 + $1.height }
            }
        },
        Idiom("Array(objects)", .linear) { context in
            try context.measure(context.count) { Array(context.all).count }
        },
        Idiom("Array(objects.where)", .linear) { context in
            try context.measure(context.count / 2) { Array(context.all.where { $0.isActive }).count }
        },
        Idiom("objects.min { $0.score < $1.score }", .linear) { context in
            try context.measure(context.population.number(rank: 0)) {
                context.all.min { $0.score < $1.score }?.id ?? -1
            }
        },
        Idiom("Dictionary(grouping: objects)", .linear) { context in
            try context.measure(100) { Dictionary(grouping: context.all) { $0.age }.count }
        },
        Idiom("objects.filter { $0.team?.id == … }", .linear) { context in
            try context.measure(100) { context.all.filter { $0.team?.id == 7 }.count }
        },
    ]

    private static let endedLoops: [Idiom] = [
        Idiom("for person in objects { break }", .constant) { context in
            try context.measure(45) { sumOfTen(context.all) }
        },
        Idiom("for person in where { break }, many match", .constant) { context in
            let people = context.population
            return try context.measure(people.sumOfFirst(10, where: people.isActive)) {
                sumOfTen(context.all.where { $0.isActive })
            }
        },
        Idiom("for person in where of an index { break }", .logarithmic) { context in
            let people = context.population
            return try context.measure(people.sumOfFirst(10) { people.age($0) == 40 }) {
                sumOfTen(context.all.where { $0.age == 40 })
            }
        },
        Idiom("for person in sorted by an index { break }", .logarithmic) { context in
            let people = context.population
            return try context.measure((0..<10).reduce(0) { $0 + people.number(rank: $1) }) {
                sumOfTen(context.all.sorted(by: { $0.rank }))
            }
        },
        Idiom("for person in sorted by an index, descending { break }", .logarithmic) { context in
            let people = context.population
            return try context.measure((1...10).reduce(0) { $0 + people.number(rank: people.count - $1) }) {
                sumOfTen(context.all.sorted(by: { $0.rank }, ascending: false))
            }
        },
        Idiom("for person in sorted { break }", .linear) { context in
            let people = context.population
            return try context.measure((0..<10).reduce(0) { $0 + people.number(place: $1) }) {
                sumOfTen(context.all.sorted(by: { $0.place }))
            }
        },
        Idiom("for person in objects.reversed() { break }", .constant) { context in
            try context.measure(context.count * 10 - 55) { sumOfTen(context.all.reversed()) }
        },
        Idiom("for index in 0..<10 { objects[index] }", .constant) { context in
            try context.measure(45) {
                let people = context.all
                return (0..<10).reduce(0) { $0 + people[$1].id }
            }
        },
        Idiom("for index in 0..<10 { where[index] }, many match", .constant) { context in
            let people = context.population
            return try context.measure(people.sumOfFirst(10, where: people.isActive)) {
                let active = context.all.where { $0.isActive }
                return (0..<10).reduce(0) { $0 + active[$1].id }
            }
        },
        Idiom("objects.first { closure }", .constant) { context in
            try context.measure(20) { context.all.first { $0.id == 20 }?.id ?? -1 }
        },
        Idiom("objects.contains { closure }", .constant) { context in
            try context.measure(1) { context.all.contains { $0.id == 20 } ? 1 : 0 }
        },
        Idiom("objects.allSatisfy { closure }", .constant) { context in
            try context.measure(0) { context.all.allSatisfy { $0.id < 20 } ? 1 : 0 }
        },
        Idiom("objects.lazy.filter { closure }.prefix(10)", .constant) { context in
            let people = context.population
            return try context.measure(people.sumOfFirst(10, where: people.isActive)) {
                context.all.lazy.filter { $0.isActive }.prefix(10).reduce(0) { $0 + $1.id }
            }
        },
        Idiom("zip(objects, 0..<10)", .constant) { context in
            try context.measure(45) { zip(0..<10, context.all).reduce(0) { $0 + $1.1.id } }
        },
    ]

    private static func sumOfTen(_ people: some Sequence<Person>) -> Int {
        var sum = 0, count = 0
        for person in people {
            sum += person.id
            count += 1
            if count == 10 { break }
        }
        return sum
    }
}
