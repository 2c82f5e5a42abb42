import ConformanceModels
import Foundation
import KennelModels
import MartletTestSupport

@testable import Martlet

extension MisuseCases {
    static let objects = [
        MisuseCase(
            "invalidated",
            "the 'Node' with the key 6 was deleted, or its Realm was invalidated, so it can no longer be used. "
                + "Check 'isInvalidated' before using an object that may have been deleted"
        ) {
            let node = Node(id: 6)
            let test = try TestRealm(holding: node)
            defer { withExtendedLifetime(test) {} }
            let realm = test.realm
            try realm.write { realm.delete(node) }
            _ = node.name
        },
        MisuseCase(
            "invalidatedResults",
            "a collection of 'Node' was used after its Realm had been invalidated. Query the Realm again"
        ) {
            let test = try TestRealm()
            defer { withExtendedLifetime(test) {} }
            let realm = test.realm
            let all = realm.objects(Node.self)
            realm.invalidate()
            _ = all.count
        },
        MisuseCase(
            "foreignObject",
            "a 'Node' of another Realm was added or linked: "
                + "it belongs to '…test.realm' and was used in '…test.realm'. "
                + "Use objects of one Realm together, or copy the object with 'create'"
        ) {
            let node = Node(id: 1)
            let (test, other) = (try TestRealm(holding: node), try TestRealm())
            try other.realm.write { other.realm.add(Node(id: 2, next: node)) }
            _ = test
        },
        MisuseCase(
            "frozenLinked",
            "a frozen 'Node' was added or linked. Frozen objects belong to one version of a file. "
                + "Link to the object that 'thaw()' returns, or copy the frozen object with 'create'"
        ) {
            let node = Node(id: 1)
            let test = try TestRealm(holding: node)
            defer { withExtendedLifetime(test) {} }
            let (realm, frozen) = (test.realm, node.freeze())
            try realm.write { node.next = frozen }
        },
        MisuseCase(
            "deletedUnmanaged",
            "an unmanaged 'Node' cannot be deleted from a Realm: it does not belong to one. Release it instead"
        ) {
            let test = try TestRealm()
            defer { withExtendedLifetime(test) {} }
            let realm = test.realm
            try realm.write { realm.delete(Node(id: 1)) }
        },
        MisuseCase(
            "duplicatePrimaryKey",
            "a 'Node' with the primary key 1 exists already. "
                + "Use 'update: .modified' or '.all' to change it, or choose another key"
        ) {
            _ = try TestRealm(holding: Node(id: 1), Node(id: 1))
        },
        MisuseCase(
            "primaryKeyChange",
            "the primary key 'Node.id' was changed after the object had been added. Create a new object instead"
        ) {
            let node = Node(id: 1)
            let test = try TestRealm(holding: node)
            defer { withExtendedLifetime(test) {} }
            let realm = test.realm
            try realm.write { node.id = 2 }
        },
        MisuseCase(
            "noPrimaryKey",
            "'Person' has no primary key. Declare 'primaryKey' in the schema, or find the object with 'where'"
        ) {
            _ = try TestRealm().realm.dynamicObject(ofType: "Person", forPrimaryKey: 1)
        },
        MisuseCase(
            "unknownType",
            "'Dog' is not in the schema of this Realm. Add it to 'Realm.Configuration.objectTypes', "
                + "or leave 'objectTypes' out to use all types of the program"
        ) {
            _ = try TestRealm { $0.objectTypes = [Keyless.self] }.realm.objects(Dog.self)
        },
        MisuseCase(
            "embeddedAtTopLevel",
            "'Part' is an embedded type and cannot be added by itself. Assign it to a property of its owner"
        ) {
            let test = try TestRealm()
            defer { withExtendedLifetime(test) {} }
            let realm = test.realm
            try realm.write { realm.dynamicCreate("Part") }
        },
        MisuseCase(
            "embeddedOwned",
            "an embedded 'Part' that already has an owner was assigned to another owner. Create a copy for each owner"
        ) {
            let (first, second) = (Node(id: 1, part: Part(name: "wheel")), Node(id: 2))
            let test = try TestRealm(holding: first, second)
            defer { withExtendedLifetime(test) {} }
            let realm = test.realm
            try realm.write { second.part = first.part }
        },
        MisuseCase(
            "enumWithoutCase",
            "the stored value … is not a case of 'Level'. "
                + "Declare the property optional, or an 'unknown' case in the schema"
        ) {
            let test = try TestRealm(holding: EnumHolder(id: 1))
            try alter(test.url.path, "UPDATE EnumHolder SET level = 99")
            try test.onNewThread { _ = $0.objects(EnumHolder.self).first?.level }
        },
        MisuseCase(
            "readFailed",
            "'…test.realm' could not be read: "
                + "the file is damaged; it was left as it is; restore a backup or work on a copy: …. "
                + "Properties and collections cannot throw errors, so the program stops"
        ) {
            try readDamaged()
        },
        MisuseCase(
            "readFailed",
            "'…test.realm' could not be read: "
                + "'Node.amount' in the row with the key 1 holds the text 'many', where the schema expects Double: "
                + "the file is damaged; it was left as it is; restore a backup, "
                + "or correct the row with the program 'sqlite3' while no Realm of the file is open. "
                + "Properties and collections cannot throw errors, so the program stops"
        ) {
            let file = try DamagedFile()
            try file.damage("UPDATE Node SET amount = 'many' WHERE id = 1")
            _ = try file.open().objects(Node.self).first?.amount
        },
        MisuseCase(
            "readFailed",
            "'…test.realm' could not be read: "
                + "'Node.next' in the row with the key 1 links to the row 77 of 'Node', which does not exist: "
                + "the file is damaged; it was left as it is; restore a backup, "
                + "or correct the row with the program 'sqlite3' while no Realm of the file is open. "
                + "Properties and collections cannot throw errors, so the program stops"
        ) {
            let file = try DamagedFile()
            try file.damage("UPDATE Node SET next = 77 WHERE id = 1")
            _ = try file.open().objects(Node.self).first?.next?.name
        },
    ]

    static let values = [
        MisuseCase("unknownProperty", "'IntKey' has no property 'text'. It has 'id', 'content'") {
            _ = IntKey()["text"]
        },
        MisuseCase(
            "wrongValue",
            "'IntKey.content' takes 'String', but was given '5' of type 'Int'. Assign a value of that type, or change the schema"
        ) {
            IntKey()["content"] = 5
        },
        MisuseCase(
            "wrongValue",
            "'IntKey.content' takes 'String', but was given 'nil'. Assign a value, or declare the property optional"
        ) {
            IntKey()["content"] = nil
        },
        MisuseCase(
            "wrongValue",
            "'ScalarLists.ints' takes elements of type 'Int', but was given 'two' of type 'String' at 'ScalarLists.ints[1]'. "
                + "Assign a value of that type, or change the schema"
        ) {
            _ = ScalarLists(value: ["ints": [1, "two"] as [Any]])
        },
        MisuseCase(
            "linkingObjectsAssigned",
            "'Node.previous' cannot be assigned: it is computed from links. Set 'Node.next' of the objects that link to this one"
        ) {
            Node()["previous"] = [Node]()
        },
        MisuseCase(
            "wrongKind",
            "'Node.peers' is 'Set<Node>' and not a list. "
                + "Use 'dynamicList', 'dynamicSet', 'dynamicMap' or 'value(forKey:)', according to its type"
        ) {
            _ = Node().dynamicList("peers")
        },
    ]

    static let generated = [
        MisuseCase(
            "notGenerated",
            "'HandWritten' was not generated from a schema. Declare it there instead of subclassing 'Object'"
        ) {
            _ = HandWritten().description
        },
        MisuseCase("notDecimal", "'twelve' is not a decimal number. Write it as in '-12.50' or '1e-7'") {
            _ = Decimal128("twelve" as StaticString)
        },
        MisuseCase("notObjectId", "'twelve' is not an ObjectId. Write 24 hexadecimal digits") {
            _ = ObjectId("twelve" as StaticString)
        },
    ]

    /// Reads a file after overwriting one page of its rows.
    private static func readDamaged() throws {
        let test = try TestRealm()
        let url = test.url.deletingLastPathComponent().appendingPathComponent("damaged/test.realm")
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try test.realm.write {
            for id in 0..<2_000 { test.realm.add(Node(id: id, name: String(repeating: "n", count: 500))) }
        }
        try test.realm.writeCopy(toFile: url)
        var bytes = try Data(contentsOf: url)
        // Finds the pages with rows of nodes. They contain names, and begin with the byte 13, as every leaf page of a
        // table does.
        let name = Data(repeating: UInt8(ascii: "n"), count: 100)
        let pages = stride(from: 0, to: bytes.count, by: 4096).filter {
            bytes[$0] == 13 && bytes[$0..<$0 + 4096].range(of: name) != nil
        }
        let page = pages[pages.count / 2]
        bytes.replaceSubrange(page..<page + 4096, with: Data(repeating: 0xA5, count: 4096))
        try bytes.write(to: url)
        for node in try Realm(configuration: .init(fileURL: url)).objects(Node.self) { _ = node.name }
    }
}

/// A class that is not in any schema.
private final class HandWritten: Object {}
