import Martlet

/// Writes of objects and their properties. The commit waits for the disk only if the name of the idiom ends with
/// "durable".
extension Idiom {
    static let writes: [Idiom] = [
        Idiom("write {}", .constant) { context in
            try context.measure(0) { try context.realm.write { 0 } }
        },
        Idiom("write {}, durable", .constant) { context in
            try context.measure(0) { try context.durableRealm.write { 0 } }
        },
        Idiom("write of one property, durable", .constant) { context in
            let person = context.durableRealm.object(ofType: Person.self, forPrimaryKey: 7)!
            return try context.measure(1) { round in
                try context.durableRealm.write { person.visits = round }
                return 1
            }
        },
        Idiom("write of an equal value", .constant) { context in
            let person = context.person(context.count / 2)
            let age = person.age
            return try context.measure(age) {
                try context.realm.write { person.age = age }
                return person.age
            }
        },
        Idiom("write of one property", .constant) { context in
            let person = context.person(context.count / 2)
            return try context.measure(1) { round in
                try context.realm.write { person.visits = round }
                return person.visits == round ? 1 : 0
            }
        },
        Idiom("write of one indexed property", .logarithmic) { context in
            let person = context.person(context.count / 2)
            let rank = person.rank
            return try context.measure(
                -5,
                after: { _ in try context.realm.write { person.rank = rank } },
                execution: { _ in
                    try context.realm.write { person.rank = -5 }
                    return person.rank
                })
        },
        Idiom("write of a link", .logarithmic) { context in
            let person = context.person(350), team = context.team(3)
            return try context.measure(3) { _ in
                try context.realm.write { person.team = team }
                return person.team?.id ?? -1
            }
        },
        Idiom("write of an embedded object", .logarithmic) { context in
            let person = context.person(24)
            return try context.measure(6) { _ in
                try context.realm.write { person.address = Address(street: "Street 24", city: "City 4") }
                return person.address?.city.utf8.count ?? 0
            }
        },
        Idiom("realm.add(person)", .logarithmic) { context in
            try context.measure(
                1,
                after: { round in
                    try context.realm.write { context.realm.delete(context.person(context.count + round)) }
                },
                execution: { round in
                    let person = context.population.person(context.count + round)
                    try context.realm.write { context.realm.add(person) }
                    return person.realm == nil ? 0 : 1
                })
        },
        Idiom("realm.add of 100 people", .logarithmic) { context in
            let new = context.count..<context.count + 100
            return try context.measure(
                100,
                after: { _ in
                    try context.realm.write { context.realm.delete(new.map(context.person)) }
                },
                execution: { _ in
                    let people = new.map { context.population.person($0) }
                    try context.realm.write { context.realm.add(people) }
                    return people.count { $0.realm != nil }
                })
        },
        Idiom("realm.add(person, update: .modified), equal values", .logarithmic) { context in
            let number = context.count / 2
            return try context.measure(context.population.age(number)) { _ in
                let person = context.population.person(number)
                person.team = context.team(number / 100)
                try context.realm.write { context.realm.add(person, update: .modified) }
                return person.age
            }
        },
        Idiom("realm.create(update: .modified) of one property", .logarithmic) { context in
            try context.measure(1) { round in
                try context.realm.write {
                    context.realm.create(Person.self, value: ["id": 5, "visits": round], update: .modified)
                        .visits == round ? 1 : 0
                }
            }
        },
        Idiom("write of 100 objects of where, indexed", .logarithmic) { context in
            try context.measure(100) { round in
                let people = context.all.where { $0.rank < 100 }
                try context.realm.write {
                    for person in people { person.visits = round }
                }
                return people.count
            }
        },
        Idiom("write of 100 objects by setValue(forKey:)", .logarithmic) { context in
            try context.measure(100) { round in
                let people = context.all.where { $0.rank < 100 }
                try context.realm.write { people.setValue(round, forKey: "visits") }
                return people.count
            }
        },
        Idiom("write of one property of all objects", .linear) { context in
            try context.measure(context.count) { round in
                try context.realm.write {
                    for person in context.all { person.visits = round }
                }
                return context.count
            }
        },
        Idiom("write that throws", .logarithmic) { context in
            struct Stop: Error {}
            let person = context.person(context.count / 2)
            let age = person.age
            return try context.measure(age) { round in
                try? context.realm.write {
                    person.age = 500 + round
                    throw Stop()
                }
                return person.age
            }
        },
        Idiom("look-up inside a write after a change", .logarithmic) { context in
            let number = context.count / 2
            return try context.measureInWrite(number) {
                context.person(5).visits += 1
                return context.all.where { $0.rank == context.population.rank(number) }.first?.id ?? -1
            }
        },
        Idiom("objects.count inside a write after a change", .constant) { context in
            try context.measureInWrite(context.count + 1) {
                context.realm.add(context.population.person(context.count))
                return context.all.count
            }
        },
    ]
}
