import Martlet

/// Access to properties by name, projections, and dynamic objects.
extension Idiom {
    static let keyedAccess: [Idiom] = [
        Idiom("person[\"age\"]", .constant) { context in
            let person = context.person(7), age = context.population.age(7)
            return try context.measure(age) { person["age"] as? Int ?? -1 }
        },
        Idiom("person.value(forKey:)", .constant) { context in
            let person = context.person(7), age = context.population.age(7)
            return try context.measure(age) { person.value(forKey: "age") as? Int ?? -1 }
        },
        Idiom("person.value(forKeyPath: \"team.name\")", .constant) { context in
            let person = context.person(307)
            return try context.measure(12) { (person.value(forKeyPath: "team.name") as? String)?.utf8.count ?? -1 }
        },
        Idiom("objects.value(forKey:)", .linear) { context in
            try context.measure(context.count) { context.all.value(forKey: "name").count }
        },
        Idiom("objects.setValue(_:forKey:)", .linear) { context in
            try context.measure(context.count) { round in
                try context.realm.write { context.all.setValue(round, forKey: "visits") }
                return context.count
            }
        },
        Idiom("list of 100: value(forKey:)", .constant) { context in
            let club = context.club(3)
            return try context.measure(100) { club.members.value(forKey: "name").count }
        },
        Idiom("objects(PersonCard.self).first", .constant) { context in
            try context.measure(14) {
                context.realm.objects(PersonCard.self).first?.name.utf8.count ?? -1
            }
        },
        Idiom("for card in objects(PersonCard.self)", .linear) { context in
            try context.measure(context.count * 14) {
                var sum = 0
                for card in context.realm.objects(PersonCard.self) { sum += card.name.utf8.count }
                return sum
            }
        },
        Idiom("where.projected.prefix(10), many match", .constant) { context in
            try context.measure(140) {
                context.all.where { $0.isActive }.projected(PersonCard.self).prefix(10)
                    .reduce(0) { $0 + $1.name.utf8.count }
            }
        },
        Idiom("card.teamName", .constant) { context in
            let card = PersonCard(projecting: context.person(307))
            return try context.measure(12) { card.teamName?.utf8.count ?? -1 }
        },
        Idiom("dynamicObjects.first", .constant) { context in
            try context.measure(0) { context.realm.dynamicObjects("Person").first?["id"] as? Int ?? -1 }
        },
        Idiom("dynamicObject(ofType:forPrimaryKey:)", .logarithmic) { context in
            try context.measureSample(context.population.age) {
                context.realm.dynamicObject(ofType: "Person", forPrimaryKey: $0)?["age"] as? Int ?? -1
            }
        },
        Idiom("person.description", .constant) { context in
            let person = context.person(7)
            return try context.measure(1) { person.description.isEmpty ? 0 : 1 }
        },
        Idiom("objects.description", .constant) { context in
            try context.measure(1) { context.all.description.isEmpty ? 0 : 1 }
        },
    ]
}
