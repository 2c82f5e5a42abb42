import Martlet

/// Reads of lists. A small list has 100 elements in a file of any size. A large list contains all people or a number
/// for each person.
extension Idiom {
    static let lists: [Idiom] = [
        Idiom("for person in list of 100", .constant) { context in
            let club = context.club(3)
            return try context.measure(34_950) {
                var sum = 0
                for person in club.members { sum += person.id }
                return sum
            }
        },
        Idiom("list of 100: map", .constant) { context in
            let club = context.club(3)
            return try context.measure(4950) { club.members.map { $0.age }.reduce(0, +) }
        },
        Idiom("list of 100: count", .constant) { context in
            let club = context.club(3)
            return try context.measure(100) { club.members.count }
        },
        Idiom("list of 100: [50]", .constant) { context in
            let club = context.club(3)
            return try context.measure(350) { club.members[50].id }
        },
        Idiom("list of 100: contains(person)", .constant) { context in
            let club = context.club(3), person = context.person(380)
            return try context.measure(1) { club.members.contains(person) ? 1 : 0 }
        },
        Idiom("list of 100: index(of: person)", .constant) { context in
            let club = context.club(3), person = context.person(380)
            return try context.measure(80) { club.members.index(of: person) ?? -1 }
        },
        Idiom("list of 100: where", .constant) { context in
            let club = context.club(3)
            return try context.measure(50) { club.members.where { $0.isActive }.count }
        },
        Idiom("list of 100: sorted", .constant) { context in
            let club = context.club(3)
            let first = (300..<400).min { context.population.place($0) < context.population.place($1) }
            return try context.measure(first ?? -1) { club.members.sorted(by: { $0.place }).first?.id ?? -1 }
        },
        Idiom("list of 100: sum(of:)", .constant) { context in
            let club = context.club(3)
            return try context.measure(4950) { club.members.sum(of: { $0.age }) }
        },
        Idiom("list of 100 of the club of a new look-up: count", .logarithmic) { context in
            try context.measureSample { _ in
                100
            } _: {
                context.club($0 / 100).members.count
            }
        },
        Idiom("list of 100 numbers: for", .constant) { context in
            let club = context.club(3)
            return try context.measure(4950) {
                var sum = 0
                for number in club.numbers { sum += number }
                return sum
            }
        },
        Idiom("list of 100 numbers: sum()", .constant) { context in
            let club = context.club(3)
            return try context.measure(4950) { club.numbers.sum() }
        },
    ]

    static let largeLists: [Idiom] = [
        Idiom("for person in list of all", .linear) { context in
            try context.measure(context.population.sum(context.population.age)) {
                var sum = 0
                for person in context.archive.members { sum += person.age }
                return sum
            }
        },
        Idiom("for person in list of all { break }", .constant) { context in
            try context.measure(context.count - 10) {
                var count = 0
                for person in context.archive.members {
                    count += 1
                    if count == 10 { return person.id }
                }
                return -1
            }
        },
        Idiom("list of all: count", .constant) { context in
            let archive = context.archive
            return try context.measure(context.count) { archive.members.count }
        },
        Idiom("list of all: first, last", .constant) { context in
            let archive = context.archive
            return try context.measure(context.count - 1) {
                (archive.members.first?.id ?? -1) + (archive.members.last?.id ?? -1)
            }
        },
        Idiom("list of all: [random]", .logarithmic) { context in
            let members = context.archive.members
            return try context.measureSample {
                context.count - 1 - $0
            } _: {
                members[$0].id
            }
        },
        Idiom("list of all: [n / 2] after an append", .logarithmic) { context in
            let members = context.archive.members, person = context.person(5)
            return try context.measure(
                context.count / 2 - 1,
                before: { _ in try context.realm.write { members.append(person) } },
                after: { _ in try context.realm.write { members.removeLast() } },
                execution: { _ in members[context.count / 2].id })
        },
        Idiom("list of all: prefix(10)", .constant) { context in
            let members = context.archive.members
            return try context.measure(context.count * 10 - 55) {
                members.prefix(10).reduce(0) { $0 + $1.id }
            }
        },
        Idiom("list of all: index(of: person)", .logarithmic) { context in
            let members = context.archive.members, person = context.person(10)
            return try context.measure(context.count - 11) { members.index(of: person) ?? -1 }
        },
        Idiom("list of all: contains(person)", .logarithmic) { context in
            let members = context.archive.members, person = context.person(10)
            return try context.measure(1) { members.contains(person) ? 1 : 0 }
        },
        Idiom("list of all: where.limit(10)", .constant) { context in
            let people = context.population, members = context.archive.members
            let active = people.numbers.reversed().lazy.filter(people.isActive).prefix(10)
            return try context.measure(active.reduce(0, +)) {
                members.where { $0.isActive }.limit(10).reduce(0) { $0 + $1.id }
            }
        },
        Idiom("list of all: where.count", .linear) { context in
            let members = context.archive.members
            return try context.measure(context.count / 2) { members.where { $0.isActive }.count }
        },
        Idiom("list of all: where of an index, 100 match", .logarithmic) { context in
            let members = context.archive.members
            return try context.measure(100) { members.where { $0.rank < 100 }.count }
        },
        Idiom("list of all: sum(of:)", .linear) { context in
            let members = context.archive.members
            return try context.measure(context.population.sum(context.population.age)) {
                members.sum(of: { $0.age })
            }
        },
        Idiom("list of all numbers: [random]", .logarithmic) { context in
            let numbers = context.archive.numbers
            return try context.measureSample(context.population.age) { numbers[$0] }
        },
        Idiom("list of all numbers: sum()", .linear) { context in
            let numbers = context.archive.numbers
            return try context.measure(context.population.sum(context.population.age)) { numbers.sum() }
        },
        Idiom("list of all numbers: firstIndex { closure }", .constant) { context in
            let numbers = context.archive.numbers
            let index = context.population.numbers.first { context.population.age($0) == 99 }
            return try context.measure(index ?? -1) { numbers.firstIndex { $0 == 99 } ?? -1 }
        },
    ]
}
