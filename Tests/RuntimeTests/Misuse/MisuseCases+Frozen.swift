import ConformanceModels
import Foundation
import MartletSQLite
import MartletTestSupport

@testable import Martlet
@testable import MartletEngine

extension MisuseCases {
    static let frozenObjects = [
        MisuseCase(
            "frozen",
            "a 'Node' is frozen and cannot be changed. Change what 'thaw()' returns, inside a write transaction"
        ) {
            let node = Node(id: 1)
            let test = try TestRealm(holding: node)
            let frozen = node.freeze()
            try test.realm.write { frozen.name = "x" }
        },
        MisuseCase(
            "frozenRealm",
            "a frozen Realm was invalidated, but it never changes. Use the live Realm that 'thaw()' returns"
        ) {
            let test = try TestRealm()
            test.realm.freeze().invalidate()
        },
        MisuseCase(
            "observeFrozen",
            "a collection of 'Node' is frozen and was observed, but it never changes. Observe what 'thaw()' returns"
        ) {
            let test = try TestRealm()
            _ = test.realm.objects(Node.self).freeze().observe { _ in }
        },
        MisuseCase(
            "unmanagedTransfer", "an unmanaged 'Node' was frozen. Add it to a Realm first, or pass plain values"
        ) {
            _ = Node(id: 1).freeze()
        },
        MisuseCase(
            "frozenTooEarly",
            "a 'Node' with the key 1 was created in the open write transaction and frozen there, but frozen objects show "
                + "the state before that transaction. Commit the transaction first. "
                + "Exception: inside an asynchronous write, before its first change, you can freeze objects that "
                + "earlier writes created"
        ) {
            let test = try TestRealm()
            try test.realm.write {
                let node = Node(id: 1)
                test.realm.add(node)
                _ = node.freeze()
            }
        },
        MisuseCase(
            "cannotThaw", "a 'Node' with the key 1 cannot be thawed, because its file cannot be opened here: …"
        ) {
            let node = Node(id: 1)
            let test = try TestRealm(holding: node)
            let frozen = Frozen(node)
            try FileManager.default.removeItem(at: test.url)
            // Idle connections could still read the deleted file, so this test takes all of them.
            var connections: [Connection] = []
            while let connection = try? test.realm.context.coordinator.takeConnection() {
                connections.append(connection)
            }
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                _ = frozen.thaw()
                done.signal()
            }
            done.wait()
            _ = connections
        },
        MisuseCase(
            "frozenInMigration",
            "an object of a migration was frozen. Keep plain values, and freeze objects of the Realm once it is open"
        ) {
            try migrate { $0.enumerateObjects(ofType: "Node") { _, new in _ = new?.freeze() } }
        },
        MisuseCase(
            "resolvedTwice",
            "a 'ThreadSafeReference<Node>' was resolved twice. Create one for each use, or use '@ThreadSafe'"
        ) {
            let node = Node(id: 1)
            let test = try TestRealm(holding: node)
            let reference = ThreadSafeReference(to: node)
            for _ in 1...2 { _ = test.realm.resolve(reference) }
        },
        MisuseCase(
            "resolvedElsewhere",
            "a 'ThreadSafeReference<Node>' of the file '…test.realm' was resolved by a Realm of another file. "
                + "Resolve it by a Realm with the same configuration"
        ) {
            let node = Node(id: 1)
            let (test, other) = (try TestRealm(holding: node), try TestRealm())
            _ = other.realm.resolve(ThreadSafeReference(to: node))
            _ = test
        },
    ]

    static let anyValues = [
        MisuseCase(
            "embeddedInAnyValue",
            "an embedded 'Part' was put into an 'AnyRealmValue', which cannot own it. "
                + "Link to a top-level object, or declare a property of the type 'Part'"
        ) {
            let lists = ScalarLists(id: 1)
            let test = try TestRealm(holding: lists)
            try test.realm.write { lists.anyValues.append(.object(Part())) }
        },
        MisuseCase(
            "nestedTooDeep",
            "an 'AnyRealmValue' with more than 100 nested lists and maps was used. "
                + "Store it in parts, as objects that link to each other"
        ) {
            let value = (0..<101).reduce(AnyRealmValue.int(1)) { value, _ in .list([value]) }
            let test = try TestRealm()
            try test.realm.write { test.realm.add(Scalars(id: 1, anyValue: value)) }
        },
        MisuseCase(
            "wrongAnyKind", "an 'AnyRealmValue' that is 'int' was used as a map. Ask for its 'kind' first"
        ) {
            var value = AnyRealmValue.int(1)
            value["key"] = .int(2)
        },
        MisuseCase(
            "collectionInSet",
            "a list or map was put into a set, which takes single values and objects only. "
                + "Use a list or a map of 'AnyRealmValue' instead"
        ) {
            ScalarSets(id: 1).anyValues.insert(.map([:]))
        },
        MisuseCase(
            "createdStoredObject",
            "a 'StoredObject' was created directly. Use 'dynamicCreate' with the name of its type"
        ) {
            _ = StoredObject()
        },
    ]
}
