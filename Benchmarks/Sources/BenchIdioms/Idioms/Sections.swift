import Martlet

/// Sections and distinct values.
extension Idiom {
    static let sections: [Idiom] = [
        Idiom("sectioned(by: field), 100 sections", .linear) { context in
            try context.measure(100) { context.all.sectioned(by: { $0.height }).count }
        },
        Idiom("sectioned(by: indexed field), 100 sections", .linear) { context in
            try context.measure(100) { context.all.sectioned(by: { $0.age }).count }
        },
        Idiom("sectioned(by: \\.level), 3 sections", .linear) { context in
            try context.measure(3) { context.all.sectioned(by: \.level).count }
        },
        Idiom("sectioned(by: closure)", .linear) { context in
            try context.measure(1) {
                context.all.sectioned(
                    by: { $0.name.prefix(1) }, sortDescriptors: [RealmSortDescriptor(keyPath: "name")]
                ).count
            }
        },
        Idiom("sectioned where of an index, 100 match", .logarithmic) { context in
            let people = context.population
            let ages = Set((0..<100).map { people.age(people.number(rank: $0)) })
            return try context.measure(ages.count) {
                context.all.where { $0.rank < 100 }.sectioned(by: { $0.age }).count
            }
        },
        Idiom("held sections: [section][item]", .logarithmic) { context in
            let sections = heldSections(context)
            let number = context.population.numbers.filter { context.population.age($0) == 40 }[50]
            return try context.measure(number) { sections[40][50].id }
        },
        Idiom("held sections: section(forKey:)", .logarithmic) { context in
            let sections = heldSections(context)
            return try context.measure(context.count / 100) { sections.section(forKey: 40)?.count ?? -1 }
        },
        Idiom("held sections: indexPath(of:)", .logarithmic) { context in
            let sections = heldSections(context)
            let people = context.population, number = people.numbers.filter { people.age($0) == 40 }[50]
            let person = context.person(number)
            return try context.measure(4050) {
                guard let path = sections.indexPath(of: person) else { return -1 }
                return path[0] * 100 + path[1]
            }
        },
        Idiom("for section in sections { for person in section }", .linear) { context in
            try context.measure(context.population.sum { $0 }) {
                var sum = 0
                for section in context.all.sectioned(by: { $0.age }) {
                    for person in section { sum += person.id }
                }
                return sum
            }
        },
        Idiom("distinct(by:), 100 values", .linear) { context in
            try context.measure(100) { context.all.distinct(by: { $0.height }).count }
        },
        Idiom("distinct(by:), 100 values of an index", .linear) { context in
            try context.measure(100) { context.all.distinct(by: { $0.age }).count }
        },
        Idiom("distinct(by:).first", .constant) { context in
            try context.measure(0) { context.all.distinct(by: { $0.height }).first?.id ?? -1 }
        },
        Idiom("list of 100 numbers: distinct()", .constant) { context in
            let numbers = context.club(3).numbers
            return try context.measure(100) { numbers.distinct().count }
        },
        Idiom("set of 100 texts: sectioned", .constant) { context in
            let words = context.club(3).words
            return try context.measure(10) { words.sectioned(by: { $0.last }).count }
        },
    ]

    /// Sections that are already computed.
    private static func heldSections(_ context: Context) -> SectionedResults<Int?, Person> {
        let sections = context.all.sectioned(by: { $0.age })
        _ = sections.count
        return sections
    }
}
