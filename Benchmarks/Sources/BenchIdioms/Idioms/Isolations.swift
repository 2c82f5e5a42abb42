import Dispatch
import Foundation
import Martlet

/// Opening and refreshing a Realm, freezing objects, and passing objects to another thread.
extension Idiom {
    static let isolations: [Idiom] = [
        Idiom("Realm() of a closed file", .constant) { context in
            try context.measure(1) {
                let realm = try Realm(configuration: Context.configuration(context.file, .off))
                return realm.isFrozen ? 0 : 1
            }
        },
        Idiom("Realm() of an open file", .constant) { context in
            let open = context.realm
            return try context.measure(1) {
                let realm = try Realm(configuration: Context.configuration(context.file, .off))
                return realm == open ? 1 : 0
            }
        },
        Idiom("Realm(queue:) and a look-up, closed file", .logarithmic) { context in
            let number = context.count / 2, age = context.population.age(number)
            return try context.measure(age) { try openElsewhere(context.file, number) }
        },
        Idiom("Realm(queue:) and a look-up, open file", .logarithmic) { context in
            let number = context.count / 2, age = context.population.age(number), open = context.realm
            return try withExtendedLifetime(open) {
                try context.measure(age) { try openElsewhere(context.file, number) }
            }
        },
        Idiom("realm.refresh(), nothing new", .constant) { context in
            try context.measure(0) { context.realm.refresh() ? 1 : 0 }
        },
        Idiom("realm.refresh() after a write on another queue", .constant) { context in
            let all = context.all.where { $0.isActive }
            _ = all.count
            return try context.measure(
                1, before: { _ = try writeElsewhere(context.file, 7, visits: $0) },
                execution: { _ in context.realm.refresh() ? 1 : 0 })
        },
        Idiom("freeze() of an object", .constant) { context in
            let person = context.person(7)
            return try context.measure(7) { person.freeze().id }
        },
        Idiom("freeze() of objects and first", .constant) { context in
            let people = context.all
            return try context.measure(0) { people.freeze().first?.id ?? -1 }
        },
        Idiom("freeze() of held results after a write, and first", .constant) { context in
            let people = context.all.where { $0.isActive }
            let person = context.person(7), first = context.population.sumOfFirst(1, where: context.population.isActive)
            return try context.measure(
                first,
                before: { round in try context.realm.write { person.visits = round } },
                execution: { _ in people.freeze().first?.id ?? -1 })
        },
        Idiom("thaw() of an object", .logarithmic) { context in
            let person = context.person(7).freeze()
            return try context.measure(7) { person.thaw()?.id ?? -1 }
        },
        Idiom("ThreadSafeReference to an object, resolved", .logarithmic) { context in
            let person = context.person(7)
            return try context.measure(7) {
                context.realm.resolve(ThreadSafeReference(to: person))?.id ?? -1
            }
        },
        Idiom("ThreadSafeReference to where, resolved, and first", .constant) { context in
            let people = context.all.where { $0.isActive }
            let first = context.population.sumOfFirst(1, where: context.population.isActive)
            return try context.measure(first) {
                context.realm.resolve(ThreadSafeReference(to: people))?.first?.id ?? -1
            }
        },
        Idiom("write of one property on another queue", .constant) { context in
            try context.measure(1) { try writeElsewhere(context.file, 7, visits: $0) }
        },
        Idiom("realm.isEmpty", .constant) { context in
            try context.measure(0) { context.realm.isEmpty ? 1 : 0 }
        },
    ]

    private static let queue = DispatchQueue(label: "other")

    /// Opens a Realm on another queue and returns the age of a person.
    private static func openElsewhere(_ file: URL, _ number: Int) throws -> Int {
        try queue.sync {
            let realm = try Realm(configuration: Context.configuration(file, .off), queue: queue)
            return realm.object(ofType: Person.self, forPrimaryKey: number)?.age ?? -1
        }
    }

    /// Opens a Realm on another queue and writes a property of a person. Returns 1 if the person exists.
    private static func writeElsewhere(_ file: URL, _ number: Int, visits: Int) throws -> Int {
        try queue.sync {
            let realm = try Realm(configuration: Context.configuration(file, .off), queue: queue)
            guard let person = realm.object(ofType: Person.self, forPrimaryKey: number) else { return 0 }
            try realm.write { person.visits = visits }
            return 1
        }
    }
}
