import ConformanceModels
import Foundation
import KennelModels
import MartletTestSupport

@testable import Martlet

extension MisuseCases {
    static let observations = [
        MisuseCase("observeUnmanaged", "an unmanaged 'Dog' was observed. Add it to a Realm first") {
            _ = Dog(name: "Rex").observe(keyPaths: ["name"]) { _ in }
        },
        MisuseCase(
            "observeInvalidated",
            "a 'LinkingObjects<Dog>' was observed after its object had been deleted, or its Realm had been invalidated. "
                + "Check 'isInvalidated' first"
        ) {
            let person = Person()
            let test = try TestRealm(holding: person)
            defer { withExtendedLifetime(test) {} }
            let realm = test.realm
            let dogs = person.dogs
            try realm.write { realm.delete(person) }
            _ = dogs.observe { _ in }
        },
        MisuseCase(
            "observeReadOnly",
            "a collection of 'Dog' in a Realm opened with 'readOnly' was observed, but its data never changes. "
                + "Open the file for writing"
        ) {
            _ = try readOnlyRealm().objects(Dog.self).observe { _ in }
        },
        MisuseCase(
            "observeInsideWrite",
            "a collection of 'Dog' was observed inside a write transaction that has changed something. "
                + "Register observers before the write"
        ) {
            let test = try TestRealm()
            defer { withExtendedLifetime(test) {} }
            let realm = test.realm
            try realm.write {
                realm.add(Dog(name: "Rex"))
                _ = realm.objects(Dog.self).observe { _ in }
            }
        },
        MisuseCase(
            "unknownKeyPath",
            "the key path 'owner.address.town' cannot be observed: 'Address' has no property 'town'. "
                + "Name stored properties of the schema, such as 'name' or 'owner.name'"
        ) {
            _ = try TestRealm().realm.objects(Dog.self).observe(keyPaths: ["owner.address.town"]) { _ in }
        },
        MisuseCase(
            "unknownLabel",
            "the key path 'lastName' cannot be observed: 'PersonProjection' has no label of that name. "
                + "Name one of its labels ('firstName', 'homeCity', 'friendNames'), "
                + "or the key path that a label represents"
        ) {
            let test = try TestRealm(holding: Person(firstName: "Ada"))
            _ = test.realm.objects(PersonProjection.self).observe(keyPaths: ["lastName"]) { _ in }
        },
    ]

    static let keyValues = [
        MisuseCase(
            "observeLinkingObjects",
            "'Node.previous' is a linking-objects property, which key-value observation does not support. "
                + "Use 'observe' on the collection"
        ) {
            Node(id: 1).addObserver(KeyValueRecorder(), forKeyPath: "previous")
        },
        MisuseCase(
            "observeThroughCollection",
            "the key path 'children.name' cannot be observed: it leads through the collection 'Node.children'. "
                + "Observe the collection itself, or its '@count'"
        ) {
            Node(id: 1).addObserver(KeyValueRecorder(), forKeyPath: "children.name")
        },
        MisuseCase(
            "observerNotRegistered",
            "an observer of 'Node.name' was removed, but it is not registered. "
                + "Remove each observer once, with its context"
        ) {
            Node(id: 1).removeObserver(KeyValueRecorder(), forKeyPath: "name")
        },
        MisuseCase(
            "addObserved",
            "a 'Node' with observers was added to a Realm. Remove the observers first and add them again afterwards"
        ) {
            let node = Node(id: 1)
            node.addObserver(KeyValueRecorder(), forKeyPath: "name")
            _ = try TestRealm(holding: node)
        },
        MisuseCase(
            "noArray",
            "'Node.peers' is not a list, and 'mutableArrayValue(forKey:)' supports only lists. "
                + "Use 'value(forKey:)' for sets, maps and other values"
        ) {
            _ = Node(id: 1).mutableArrayValue(forKey: "peers")
        },
    ]
}
