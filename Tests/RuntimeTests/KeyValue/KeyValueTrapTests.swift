import ConformanceModels
import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("Key-value: traps")
struct KeyValueTrapTests {
    private func message(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test("observing linking objects traps K1")
    func linkingObjects() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let node = Node(id: 1)
            node.addObserver(KeyValueRecorder(), forKeyPath: "previous")
        }
        #expect(message(result).contains("'Node.previous' is a linking-objects property"))
    }

    @Test("unknown key paths trap with the unknown component in the message K1")
    func unknown() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Node(id: 1).addObserver(KeyValueRecorder(), forKeyPath: "next.nme")
        }
        #expect(message(result).contains("the key path 'next.nme' cannot be observed: 'Node' has no property 'nme'"))
        let scalar = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Node(id: 1).addObserver(KeyValueRecorder(), forKeyPath: "name.length")
        }
        #expect(message(scalar).contains("has no property 'length'"))
    }

    @Test("observing a property by its stored name traps K29")
    func storedName() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dog().addObserver(KeyValueRecorder(), forKeyPath: "bio")
        }
        #expect(message(result).contains("'Dog' has no property 'bio'"))
    }

    @Test("observing an ignored property traps K1")
    func ignored() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Dog().observe(\.isSelected) { _, _ in }
        }
        #expect(message(result).contains("cannot be observed: 'Dog' has no property"))
    }

    @Test("observing a computed property that reads several properties traps K10")
    func computed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Node(id: 1).observe(\.title) { _, _ in }
        }
        // The name of a computed property is known at run time only if its symbol is exported.
        #expect(message(result).contains(/the key path '\\Node\.[^']+' cannot be observed: 'Node' has no property/))
    }

    @Test("observing a path through a collection traps K10")
    func throughCollection() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Node(id: 1).addObserver(KeyValueRecorder(), forKeyPath: "children.name")
        }
        #expect(message(result).contains("it leads through the collection 'Node.children'"))
    }

    @Test("removing an observer that is not registered traps K9")
    func removal() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (node, recorder) = (Node(id: 1), KeyValueRecorder())
            node.addObserver(recorder, forKeyPath: "name")
            node.removeObserver(recorder, forKeyPath: "name")
            node.removeObserver(recorder, forKeyPath: "name")
        }
        #expect(message(result).contains("an observer of 'Node.name' was removed, but it is not registered"))
        let context = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (node, recorder) = (Node(id: 1), KeyValueRecorder())
            node.addObserver(recorder, forKeyPath: "name")
            node.removeObserver(recorder, forKeyPath: "name", context: UnsafeMutableRawPointer(bitPattern: 16))
        }
        #expect(message(context).contains("an observer of 'Node.name' was removed, but it is not registered"))
    }

    @Test("adding an object that has observers traps, directly and through a link K25")
    func adding() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let node = Node(id: 1)
            node.addObserver(KeyValueRecorder(), forKeyPath: "name")
            try test.realm.write { test.realm.add(node) }
        }
        #expect(message(result).contains("a 'Node' with observers was added to a Realm"))
        let linked = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let node = Node(id: 1)
            let token = node.observe(\.name) { _, _ in }
            try test.realm.write { test.realm.add(Node(id: 2, next: node)) }
            token.invalidate()
        }
        #expect(message(linked).contains("a 'Node' with observers was added to a Realm"))
    }

    @Test("an object whose observers were removed can be added K25")
    func addingLater() throws {
        let test = try TestRealm()
        let (node, recorder) = (Node(id: 1), KeyValueRecorder())
        node.addObserver(recorder, forKeyPath: "children")
        node.removeObserver(recorder, forKeyPath: "children")
        try test.realm.write { test.realm.add(node) }
        node.addObserver(recorder, forKeyPath: "children")
        try test.realm.write { node.children.append(node) }
        #expect(recorder.calls == ["children insertion 0"])
    }

    @Test("observing an object on another thread traps, and so does observing an invalidated object K1")
    func wrongPlace() async {
        let thread = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            nonisolated(unsafe) let node = try test.nodes(1)[0]
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                node.addObserver(KeyValueRecorder(), forKeyPath: "name")
                done.signal()
            }
            done.wait()
        }
        #expect(message(thread).contains("a 'Node'"))
        let deleted = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let node = try test.nodes(1)[0]
            try test.realm.write { test.realm.delete(node) }
            node.addObserver(KeyValueRecorder(), forKeyPath: "name")
        }
        #expect(message(deleted).contains("was deleted"))
    }

    @Test("mutableArrayValue of a property that is not a list traps K15")
    func noArray() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Node(id: 1).mutableArrayValue(forKey: "peers")
        }
        #expect(message(result).contains("'Node.peers' is not a list"))
    }

    @Test("ending a write in a prior call traps K8", arguments: [false, true])
    func endInPrior(commits: Bool) async {
        let results = await [
            #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [commits] in
                let test = try TestRealm()
                let node = try test.nodes(1)[0]
                let token = node.observe(\.name, options: [.prior]) { _, _ in test.endWrite(commits) }
                try test.realm.write { node.name = "a" }
                token.invalidate()
            },
            #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [commits] in
                let test = try TestRealm()
                let node = try test.nodes(1)[0]
                let token = node.observe(\.children, options: [.prior]) { _, _ in test.endWrite(commits) }
                try test.realm.write { node.children.append(node) }
                token.invalidate()
            },
        ]
        for result in results {
            #expect(message(result).contains("the write transaction while a change was in progress"))
        }
    }

    @Test("an observer that ends the write during a deletion traps K20", arguments: [false, true])
    func endInDeletion(commits: Bool) async {
        let results = await [
            #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [commits] in
                let test = try TestRealm()
                let nodes = try test.nodes(2)
                try test.realm.write { nodes[0].next = nodes[1] }
                let token = nodes[0].observe(\.next) { _, _ in test.endWrite(commits) }
                try test.realm.write { test.realm.delete(nodes[1]) }
                token.invalidate()
            },
            #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [commits] in
                let test = try TestRealm()
                let node = try test.nodes(1)[0]
                let token = node.observe(\.isInvalidated, options: [.prior]) { _, _ in test.endWrite(commits) }
                try test.realm.write { test.realm.deleteAll() }
                token.invalidate()
            },
        ]
        for result in results { #expect(message(result).contains("for example, during a deletion")) }
    }

    @Test("cancelling a write again while it is being cancelled traps K8 K27")
    func cancelInCancel() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let node = try test.nodes(1)[0]
            try test.realm.beginWrite()
            node.name = "a"
            let token = node.observe(\.name, options: [.prior]) { _, _ in test.realm.cancelWrite() }
            test.realm.cancelWrite()
            token.invalidate()
        }
        #expect(message(result).contains("an observer cancelled the write transaction while a change was in progress"))
    }

    @Test("beginning a write in a prior call at refresh traps K8")
    func writeInPrior() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let node = try test.nodes(1)[0]
            let token = node.observe(\.name, options: [.prior]) { _, change in
                if change.isPrior { try? test.realm.beginWrite() }
            }
            try test.changeRemotely(1) { node, _ in node.name = "a" }
            test.realm.refresh()
            token.invalidate()
        }
        #expect(message(result).contains("a write transaction was begun by an observer with 'prior'"))
    }
}

extension Node {
    fileprivate var title: String { "\(name) \(next?.name ?? "")" }
}

extension TestRealm {
    /// Ends the open write. An observer must not do this while a change is in progress.
    fileprivate func endWrite(_ commits: Bool) {
        if commits { try? realm.commitWrite() } else { realm.cancelWrite() }
    }
}
