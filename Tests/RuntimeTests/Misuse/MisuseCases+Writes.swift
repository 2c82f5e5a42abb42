import CMartletTestVFS
import ConformanceModels
import Foundation
import MartletTestSupport

@testable import Martlet

extension MisuseCases {
    static let isolation = [
        MisuseCase(
            "wrongExecutor",
            "a 'Node' with the key 1 was used on …, but it belongs to the queue 'kennel'. Live objects can only be used where their Realm was opened. "
                + "Elsewhere, open a Realm and look the object up by its primary key"
        ) {
            let test = try TestRealm()
            let queue = DispatchQueue(label: "kennel")
            nonisolated(unsafe) let realm = try Realm(configuration: test.configuration, queue: queue)
            nonisolated(unsafe) let node = Node(id: 1)
            try queue.sync { try realm.write { realm.add(node) } }
            _ = node.name
        },
        MisuseCase(
            "noRunLoop",
            "a collection of 'Node' was observed on a thread that runs no run loop, so it cannot receive notifications. "
                + "Observe on the main thread, on a thread inside 'RunLoop.run', or pass a serial queue as 'on:'"
        ) {
            try TestRealm().onNewThread { _ = $0.objects(Node.self).observe { _ in } }
        },
        MisuseCase(
            "concurrentQueue",
            "a Realm was opened on the queue 'kennels', which is concurrent or global: "
                + "it runs several blocks at the same time. "
                + "Use a serial queue, which 'DispatchQueue(label:)' creates"
        ) {
            let test = try TestRealm()
            _ = try Realm(
                configuration: test.configuration, queue: DispatchQueue(label: "kennels", attributes: .concurrent))
        },
        MisuseCase(
            "forkedChild",
            "a Realm of '…' was used in a forked child process, which does not inherit the locks of the file. "
                + "Open this file in the child only after the child has executed a new program, "
                + "or fork before the file is opened"
        ) {
            let test = try TestRealm(holding: Node(id: 1))
            inForkedChild { _ = test.realm.objects(Node.self).count }
        },
    ]

    static let writes = [
        MisuseCase(
            "notInWrite",
            "a 'Node' was changed outside a write transaction, at its property 'name'. "
                + "Put the change into 'realm.write { … }'"
        ) {
            let node = Node(id: 1)
            let test = try TestRealm(holding: node)
            node.name = "x"
            _ = test
        },
        MisuseCase(
            "notInWrite",
            "the list 'Node.children' was changed outside a write transaction. "
                + "Put the change into 'realm.write { … }'"
        ) {
            let node = Node(id: 1)
            let test = try TestRealm(holding: node)
            node.children.append(node)
            _ = test
        },
        MisuseCase(
            "alreadyInWrite",
            "a write transaction was begun inside another one. Commit or cancel the first, or do the work inside it. "
                + "Beginning a write calls observers: check 'isInWriteTransaction' in callbacks, or use 'writeAsync' there"
        ) {
            let test = try TestRealm()
            defer { withExtendedLifetime(test) {} }
            let realm = test.realm
            try realm.write { try realm.write {} }
        },
        MisuseCase(
            "asyncWriteWithoutRunLoop",
            "an asynchronous write was requested on a thread that runs no run loop, so it would never run. "
                + "Request it on the main thread or an actor, or open the Realm with a serial queue"
        ) {
            try TestRealm().onNewThread { $0.writeAsync {} }
        },
        MisuseCase(
            "notSynchronized",
            "subscriptions or the sync session of '…' were used, but its Realm was opened without synchronization. "
                + "Set 'syncConfiguration' of its configuration"
        ) {
            try TestRealm().realm.trapNotSynchronized()
        },
        MisuseCase(
            "subscriptionsOutsideUpdate",
            "a set of subscriptions was changed outside of its 'update'. "
                + "Put the change into 'subscriptions.update { … }'"
        ) {
            Realm.trapSubscriptionsOutsideUpdate()
        },
        MisuseCase(
            "noWriteToEnd",
            "a write transaction was committed although none is open. "
                + "Call 'beginWrite()' first, or use 'realm.write { … }'"
        ) {
            try TestRealm().realm.commitWrite()
        },
        MisuseCase(
            "noWriteToEnd",
            "a write transaction was cancelled although none is open. "
                + "Call 'beginWrite()' first, or use 'realm.write { … }'"
        ) {
            try TestRealm().realm.cancelWrite()
        },
        MisuseCase(
            "readOnly",
            "the Realm belongs to a file opened with 'readOnly' and cannot be changed. Open the file for writing"
        ) {
            try readOnlyRealm().write {}
        },
        MisuseCase(
            "copyInsideWrite",
            "a copy of a Realm was written inside a write transaction. Commit or cancel the transaction first"
        ) {
            let test = try TestRealm()
            try test.realm.write { try test.realm.writeCopy(toFile: test.url.appendingPathExtension("copy")) }
        },
        MisuseCase(
            "silencedForeignToken",
            "'withoutNotifying' was called with a token of another Realm. Pass tokens of observers of this Realm"
        ) {
            let (test, other) = (try TestRealm(), try TestRealm())
            let token = other.realm.objects(Node.self).observe { _ in }
            try test.realm.write(withoutNotifying: [token]) {}
        },
        MisuseCase(
            "endedDuringChange",
            "an observer cancelled the write transaction while a change was in progress: just before the change, or "
                + "between its steps (for example, during a deletion). The write must stay open until the change is "
                + "complete. End the write transaction after the change"
        ) {
            let test = try TestRealm()
            let node = try test.nodes(1)[0]
            let token = node.observe(\.name, options: [.prior]) { _, _ in test.realm.cancelWrite() }
            try test.realm.write { node.name = "a" }
            token.invalidate()
        },
        MisuseCase(
            "changedByPriorObserver",
            "an observer that was called before a change (for example, one registered with the option 'prior') itself "
                + "changed a 'Node'. Such an observer may only read and run queries. "
                + "Make the change in the call that is made after the observed change"
        ) {
            let test = try TestRealm()
            let node = try test.nodes(1)[0]
            let token = node.observe(\.name, options: [.prior]) { node, _ in node.amount = 1 }
            try test.realm.write { node.name = "a" }
            token.invalidate()
        },
        MisuseCase(
            "changedDuringChange",
            "'Node.children' was changed by an observer or a closure during another change of the same collection, so "
                + "the positions of that change are no longer valid. Change the collection after that change"
        ) {
            let test = try TestRealm()
            let nodes = try test.nodes(2)
            try test.realm.write {
                nodes[0].children.append(objectsIn: nodes)
                nodes[0].children.removeAll { node in
                    nodes[0].children.append(node)
                    return node.id == 1
                }
            }
        },
        MisuseCase(
            "linkedDuringDeletion",
            "the 'Node' with the key 2 was linked by an observer that was called during its deletion. "
                + "In the observer, do not link to the object that is being deleted"
        ) {
            let test = try TestRealm()
            let nodes = try test.nodes(2)
            try test.realm.write { nodes[0].next = nodes[1] }
            let token = nodes[0].observe(\.next) { node, _ in node.next = nodes[1] }
            try test.realm.write { test.realm.delete(nodes[1]) }
            token.invalidate()
        },
        MisuseCase(
            "writeByPriorObserver",
            "a write transaction was begun by an observer with 'prior' while its Realm was moving to a newer version. "
                + "Begin the write in the call that is made after the change"
        ) {
            let test = try TestRealm()
            let node = try test.nodes(1)[0]
            let token = node.observe(\.name, options: [.prior]) { _, change in
                if change.isPrior { try? test.realm.beginWrite() }
            }
            try test.changeRemotely(1) { node, _ in node.name = "a" }
            test.realm.refresh()
            token.invalidate()
        },
    ]

    /// Runs `body` in a forked child. The parent exits with 0 if the child has exited with 0, and with 1 otherwise.
    static func inForkedChild(_ body: () throws -> Void) rethrows {
        let child = cmartlet_fork()
        if child == 0 { return try body() }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        exit(status == 0 ? 0 : 1)
    }

    /// Creates a file, and opens it with `readOnly`.
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
