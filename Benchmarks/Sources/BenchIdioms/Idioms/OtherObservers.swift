import Martlet

/// Observers of objects and of a Realm, observers on a queue, and the first calls of observers.
extension Idiom {
    static let otherObservers: [Idiom] = [
        Idiom("observe an object", .constant) { context in
            let person = context.person(7)
            return try context.measureDelivery(
                1,
                observe: { received in
                    person.observe { (change: ObjectChange<Person>) in
                        if case .change(_, let properties) = change { received.total += properties.count }
                    }
                }, change: { person.visits = $0 })
        },
        Idiom("observe an object: another object changes", .constant) { context in
            let person = context.person(7), other = context.person(8)
            return try context.measureDelivery(
                0,
                observe: { received in
                    person.observe { (_: ObjectChange<Person>) in received.total += 1 }
                }, change: { other.visits = $0 })
        },
        Idiom("observe(keyPaths:) an object: a property of a link", .constant) { context in
            let person = context.person(307), team = context.team(3), name = context.population.teamName(3)
            return try context.measureDelivery(
                1,
                observe: { received in
                    person.observe(keyPaths: ["team.name"]) { (_: ObjectChange<Person>) in received.total += 1 }
                }, change: { _ in team.name = name })
        },
        Idiom("observe a projection", .constant) { context in
            let person = context.person(7), card = PersonCard(projecting: context.person(7))
            return try context.measureDelivery(
                1,
                observe: { received in
                    card.observe { (_: ObjectChange<PersonCard>) in received.total += 1 }
                }, change: { person.visits = $0 })
        },
        Idiom("observe(\\.visits) by key-value observation", .constant) { context in
            let person = context.person(7)
            let received = Received()
            let observation = person.observe(\.visits) { _, _ in received.total += 1 }
            defer { observation.invalidate() }
            return try context.measure(1, before: { _ in received.total = 0 }) { round in
                try context.realm.write { person.visits = round }
                context.realm.refresh()
                return received.total
            }
        },
        Idiom("observe a Realm", .constant) { context in
            let person = context.person(7)
            return try context.measureDelivery(
                1, observe: { received in context.realm.observe { _, _ in received.total += 1 } },
                change: { person.visits = $0 })
        },
        Idiom("observe objects on a queue: a modification", .constant) { context in
            let person = context.person(7)
            return try context.measureQueueDelivery(
                observe: { queue, called in
                    let token = context.all.observe(on: queue) { _ in called.signal() }
                    called.wait()
                    return token
                }, change: { person.visits = $0 })
        },
        Idiom("observe an object on a queue", .constant) { context in
            let person = context.person(7)
            return try context.measureQueueDelivery(
                observe: { queue, called in
                    let token = person.observe(on: queue) { (_: ObjectChange<Person>) in called.signal() }
                    queue.sync {}
                    return token
                }, change: { person.visits = $0 })
        },
    ]

    static let firstCalls: [Idiom] = [
        Idiom("observe objects: the first call", .linear) { context in
            try context.measureFirstCall(context.count, of: { context.all }, count: { $0.count })
        },
        Idiom("observe where: the first call", .linear) { context in
            try context.measureFirstCall(
                context.count / 2, of: { context.all.where { $0.isActive } }, count: { $0.count })
        },
        Idiom("observe sorted by an index: the first call", .linear) { context in
            try context.measureFirstCall(
                context.count, of: { context.all.sorted(by: { $0.rank }) }, count: { $0.count })
        },
        Idiom("observe sorted: the first call", .linear) { context in
            try context.measureFirstCall(
                context.count, of: { context.all.sorted(by: { $0.place }) }, count: { $0.count })
        },
        Idiom("observe sorted.limit(20), indexed: the first call", .logarithmic) { context in
            try context.measureFirstCall(
                20, of: { context.all.sorted(by: { $0.rank }).limit(20) }, count: { $0.count })
        },
        Idiom("observe where of an index, 100 match: the first call", .logarithmic) { context in
            try context.measureFirstCall(100, of: { context.all.where { $0.flag } }, count: { $0.count })
        },
        Idiom("observe list of 100: the first call", .constant) { context in
            let club = context.club(3)
            return try context.measureFirstCall(100, of: { club.members }, count: { $0.count })
        },
        Idiom("observe an object: registration", .constant) { context in
            let person = context.person(7)
            return try context.measure(0) {
                let token = person.observe { (_: ObjectChange<Person>) in }
                token.invalidate()
                return 0
            }
        },
    ]
}
