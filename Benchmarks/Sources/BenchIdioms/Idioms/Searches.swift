import Martlet

/// Searches for one object by its primary key or by another property, and for the position of an object.
extension Idiom {
    static let searches: [Idiom] = [
        Idiom("object(ofType:forPrimaryKey:)", .logarithmic) { context in
            try context.measureSample(context.population.age) { context.person($0).age }
        },
        Idiom("object(ofType:forPrimaryKey:), no such object", .logarithmic) { context in
            try context.measure(0) {
                context.realm.object(ofType: Person.self, forPrimaryKey: -1) == nil ? 0 : 1
            }
        },
        Idiom("where { $0.id == key }.first", .logarithmic) { context in
            try context.measureSample(context.population.age) { number in
                context.all.where { $0.id == number }.first?.age ?? -1
            }
        },
        Idiom("where { $0.email == text }.first, indexed", .logarithmic) { context in
            try context.measureSample {
                $0
            } _: { number in
                let email = context.population.email(rank: context.population.rank(number))
                return context.all.where { $0.email == email }.first?.id ?? -1
            }
        },
        Idiom("filter(\"email == %@\", text).first, indexed", .logarithmic) { context in
            try context.measureSample {
                $0
            } _: { number in
                let email = context.population.email(rank: context.population.rank(number))
                return context.all.filter("email == %@", email).first?.id ?? -1
            }
        },
        Idiom("filter(\"rank == …\") with the value in the text, indexed", .logarithmic) { context in
            try context.measureSample {
                $0
            } _: { number in
                context.all.filter("rank == \(context.population.rank(number))").first?.id ?? -1
            }
        },
        Idiom("filter(Realm.Predicate).first, indexed", .logarithmic) { context in
            let predicate = try Realm.Predicate(parsing: "rank == %@", 20)
            return try context.measure(context.population.number(rank: 20)) {
                try context.all.filter(predicate).first?.id ?? -1
            }
        },
        Idiom("where { $0.name == text }.first, not indexed", .linear) { context in
            let number = context.count / 2
            let name = context.population.name(place: context.population.place(number))
            return try context.measure(number) { context.all.where { $0.name == name }.first?.id ?? -1 }
        },
        Idiom("objects.contains(person)", .logarithmic) { context in
            let person = context.person(context.count / 2)
            return try context.measure(1) { context.all.contains(person) ? 1 : 0 }
        },
        Idiom("where.contains(person), many match", .logarithmic) { context in
            let person = context.person(context.count - 4)
            return try context.measure(1) {
                context.all.where { $0.isActive }.contains(person) ? 1 : 0
            }
        },
        Idiom("objects.index(of: person)", .logarithmic) { context in
            let person = context.person(context.count / 2)
            return try context.measure(context.count / 2) { context.all.index(of: person) ?? -1 }
        },
        Idiom("objects.firstIndex(of: person)", .logarithmic) { context in
            let person = context.person(context.count / 2)
            return try context.measure(context.count / 2) { context.all.firstIndex(of: person) ?? -1 }
        },
        Idiom("sorted by an index: index(of: person)", .logarithmic) { context in
            let person = context.person(context.population.number(rank: context.count / 2))
            return try context.measure(context.count / 2) {
                context.all.sorted(by: { $0.rank }).index(of: person) ?? -1
            }
        },
        Idiom("sorted by an index: index(of: person), held results", .logarithmic) { context in
            let people = context.all.sorted(by: { $0.rank })
            let members = context.sample.map(context.person)
            return try context.measure(context.sample.reduce(0) { $0 + context.population.rank($1) }) {
                members.reduce(0) { $0 + (people.index(of: $1) ?? -1) }
            }
        },
        Idiom("objects.index(matching:) by key", .logarithmic) { context in
            try context.measure(context.count / 2) {
                context.all.index(matching: { $0.id == context.count / 2 }) ?? -1
            }
        },
        Idiom("objects.index(matching:), the first of many", .constant) { context in
            try context.measure(0) { context.all.index(matching: { $0.isActive }) ?? -1 }
        },
        Idiom("person == person", .constant) { context in
            let people = (context.person(5), context.person(6))
            return try context.measure(0) { people.0 == people.1 ? 1 : 0 }
        },
        Idiom("person.name of a held object", .constant) { context in
            let people = context.sample.map(context.person)
            return try context.measure(people.count * 14) { people.reduce(0) { $0 + $1.name.utf8.count } }
        },
    ]
}
