import CMartletTestVFS
import ConformanceModels
import Foundation
import MartletTestSupport

@testable import Martlet

extension Provocations {
    static let homes = [
        Provocation(
            "wrongExecutor",
            "a 'Node' with the key 1 was used on …, but it belongs to the queue 'kennel'. Live objects stay where their Realm was opened: "
                + "open a Realm there and look the object up by its primary key"
        ) {
            let test = try TestRealm()
            let queue = DispatchQueue(label: "kennel")
            nonisolated(unsafe) let realm = try Realm(configuration: test.configuration, queue: queue)
            nonisolated(unsafe) let node = Node(id: 1)
            try queue.sync { try realm.write { realm.add(node) } }
            _ = node.name
        },
        Provocation(
            "noRunLoop",
            "a collection of 'Node' was observed on a thread that runs no run loop, so nothing could ever be delivered. "
                + "Observe on the main thread, on a thread inside 'RunLoop.run', or give a serial queue with 'on:'"
        ) {
            try TestRealm().elsewhere { _ = $0.objects(Node.self).observe { _ in } }
        },
        Provocation(
            "concurrentQueue",
            "a Realm was to be opened on the queue 'kennels', which is concurrent or global: it runs several blocks at once. "
                + "Give a serial queue, as 'DispatchQueue(label:)' makes it"
        ) {
            let test = try TestRealm()
            _ = try Realm(
                configuration: test.configuration, queue: DispatchQueue(label: "kennels", attributes: .concurrent))
        },
        Provocation(
            "forkedChild",
            "a Realm of '…' was used in a forked child process, to which the locks of its file are not handed on. "
                + "Open Realms in the child once it runs a program of its own, or fork before the file is opened"
        ) {
            let test = try TestRealm(holding: Node(id: 1))
            inForkedChild { _ = test.realm.objects(Node.self).count }
        },
    ]

    static let writes = [
        Provocation(
            "notInWrite",
            "a 'Node' was changed outside a write transaction, at its property 'name'. "
                + "Put the change into 'realm.write { … }'"
        ) {
            let node = Node(id: 1)
            let test = try TestRealm(holding: node)
            node.name = "x"
            _ = test
        },
        Provocation(
            "notInWrite",
            "the list 'Node.children' was changed outside a write transaction. "
                + "Put the change into 'realm.write { … }'"
        ) {
            let node = Node(id: 1)
            let test = try TestRealm(holding: node)
            node.children.append(node)
            _ = test
        },
        Provocation(
            "alreadyInWrite",
            "a write transaction was begun inside another one. Commit or cancel the first, or do the work inside it. "
                + "Beginning a write calls observers: check 'isInWriteTransaction' in callbacks, or use 'writeAsync' there"
        ) {
            let test = try TestRealm()
            defer { withExtendedLifetime(test) {} }
            let realm = test.realm
            try realm.write { try realm.write {} }
        },
        Provocation(
            "noTurns",
            "an asynchronous write was asked for on a thread that runs no run loop, so nothing could ever run it. "
                + "Ask on the main thread, on an actor, or open the Realm with a serial queue"
        ) {
            try TestRealm().elsewhere { $0.writeAsync {} }
        },
        Provocation(
            "noWriteToEnd",
            "a write transaction was committed although none is open. "
                + "Call 'beginWrite()' first, or use 'realm.write { … }'"
        ) {
            try TestRealm().realm.commitWrite()
        },
        Provocation(
            "noWriteToEnd",
            "a write transaction was cancelled although none is open. "
                + "Call 'beginWrite()' first, or use 'realm.write { … }'"
        ) {
            try TestRealm().realm.cancelWrite()
        },
        Provocation(
            "readOnly",
            "the Realm is of a file opened with 'readOnly' and cannot be changed. Open the file for writing"
        ) {
            try readOnlyRealm().write {}
        },
        Provocation(
            "copyInsideWrite", "a copy of a Realm was written inside a write transaction. Commit or cancel it first"
        ) {
            let test = try TestRealm()
            try test.realm.write { try test.realm.writeCopy(toFile: test.url.appendingPathExtension("copy")) }
        },
        Provocation(
            "silencedForeignToken",
            "'withoutNotifying' was given a token of another Realm. Give tokens of observers of this Realm"
        ) {
            let (test, other) = (try TestRealm(), try TestRealm())
            let token = other.realm.objects(Node.self).observe { _ in }
            try test.realm.write(withoutNotifying: [token]) {}
        },
        Provocation(
            "writeBeforeChange",
            "a write transaction was begun by an observer with 'prior' while its Realm moves to a newer version. "
                + "Begin it when the change has happened"
        ) {
            let test = try TestRealm()
            let node = try test.nodes(1)[0]
            let token = node.observe(\.name, options: [.prior]) { _, change in
                if change.isPrior { try? test.realm.beginWrite() }
            }
            try test.remotely(1) { node, _ in node.name = "a" }
            test.realm.refresh()
            token.invalidate()
        },
    ]

    /// Runs `body` in a forked child. The parent exits with 0 if the child does, and with 1 otherwise.
    static func inForkedChild(_ body: () throws -> Void) rethrows {
        let child = cmartlet_fork()
        if child == 0 { return try body() }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        exit(status == 0 ? 0 : 1)
    }

    static func readOnlyRealm() throws -> Realm {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("read-only-\(UUID().uuidString).realm")
        do { _ = try Realm(configuration: .init(fileURL: url)) }
        return try Realm(configuration: .init(fileURL: url, readOnly: true))
    }
}

extension TestRealm {
    /// Creates a Realm that contains `objects`.
    convenience init(holding objects: Object...) throws {
        try self.init()
        try realm.write { realm.add(objects) }
    }
}
