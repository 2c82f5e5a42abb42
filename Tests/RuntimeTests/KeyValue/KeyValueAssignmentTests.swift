import ConformanceModels
import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("Key-value: assignments")
struct KeyValueAssignmentTests {
    @Test("an assignment through one accessor of a row notifies the observers of every accessor of the row K7 K26")
    func accessors() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(2)
        let second = Node(id: 1, name: "x")
        try test.realm.write { test.realm.add(second, update: .modified) }
        let recorders = [nodes[0].recorder("name", "next.name"), second.recorder("name", "next.name")]
        for (object, name) in [(second, "a"), (nodes[0], "b")] {
            try test.realm.write { object.name = name }
        }
        #expect(recorders.map { $0.take() } == Array(repeating: ["name: x -> a", "name: a -> b"], count: 2))
        try test.realm.write { second.next = nodes[1] }
        #expect(recorders.map { $0.take() } == Array(repeating: ["next.name: nil -> n2"], count: 2))
        try test.realm.write { nodes[1].name = "c" }
        #expect(recorders.map { $0.take() } == Array(repeating: ["next.name: n2 -> c"], count: 2))
        try test.realm.write { nodes[0].next = nil }
        #expect(recorders.map { $0.take() } == Array(repeating: ["next.name: c -> nil"], count: 2))
        let children = [nodes[0].recorder("children.@count"), second.recorder("children.@count")]
        try test.realm.write {
            nodes[0].children.append(nodes[1])
            second.children.append(nodes[1])
        }
        #expect(
            children.map { $0.take() }
                == Array(repeating: ["children.@count: 0 -> 1", "children.@count: 1 -> 2"], count: 2))
    }

    @Test("properties of every kind, and isInvalidated, can be observed K1")
    func everyProperty() throws {
        let test = try TestRealm()
        let scalars = Scalars()
        try test.realm.write { test.realm.add(scalars) }
        for property in scalars._model.schema.properties where property.index != scalars._model.schema.primaryKey {
            if case .linkingObjects = property.kind { continue }
            let recorder = scalars.recorder(property.name, options: [.initial])
            let value = scalars.value(forKey: property.name)
            if !property.isLink && !property.isCollection, value != nil || property.isOptional {
                try test.realm.write { scalars.setValue(value, forKey: property.name) }
                #expect(recorder.calls.count == 2, "\(property.name)")
            }
        }
        let recorder = scalars.recorder("isInvalidated")
        try test.realm.write { test.realm.delete(scalars) }
        #expect(recorder.calls == ["isInvalidated: false -> true"])
    }

    @Test("scalars, links, deep paths and collections of unmanaged objects can be observed K2")
    func unmanaged() {
        let node = Node(id: 1, name: "a")
        let (other, third) = (Node(id: 2, name: "b"), Node(id: 3, name: "c"))
        let recorder = node.recorder("name", "next", "next.name", "children", "children.@count", "peers", "named")
        node.name = "x"
        #expect(recorder.take() == ["name: a -> x"])
        node.next = other
        #expect(recorder.take() == ["next: nil -> #2", "next.name: nil -> b"])
        other.name = "y"
        #expect(recorder.take() == ["next.name: b -> y"])
        node.next = third
        #expect(recorder.take() == ["next: #2 -> #3", "next.name: y -> c"])
        other.name = "unobserved"
        #expect(recorder.take() == [])
        node.children.append(other)
        #expect(recorder.take() == ["children insertion 0: - -> [#2]", "children.@count: 0 -> 1"])
        node.children.insert(third, at: 0)
        #expect(recorder.take() == ["children insertion 0: - -> [#3]", "children.@count: 1 -> 2"])
        node.children.swapAt(0, 1)
        #expect(recorder.take() == ["children replacement 0,1: [#3, #2] -> [#2, #3]"])
        node.children.remove(at: 0)
        #expect(recorder.take() == ["children removal 0: [#2] -> -", "children.@count: 2 -> 1"])
        node.children = [other, third]
        #expect(recorder.take() == ["children: [#3] -> live[#2, #3]", "children.@count: 1 -> 2"])
        node.children.removeAll()
        #expect(recorder.take() == ["children removal 0,1: [#2, #3] -> -", "children.@count: 2 -> 0"])
        node.peers.insert(other)
        node.named["k"] = other
        #expect(recorder.take().map { String($0.prefix(5)) } == ["peers", "named"])
        node.peers.insert(other)
        #expect(recorder.take() == [])
    }

    @Test("an unmanaged object can be observed by Swift key paths until the token is invalidated K2")
    func unmanagedToken() {
        let person = Person(firstName: "Ada")
        var log: [String] = []
        var token: KeyValueObservation? = person.observe(\.firstName, options: .both) { _, change in
            log.append("\(change.oldValue ?? "-") \(change.newValue ?? "-")")
        }
        person.firstName = "Bea"
        token?.invalidate()
        person.firstName = "Cleo"
        token = person.observe(\.firstName) { _, change in
            log.append("\(change.oldValue as Any) \(change.newValue as Any)")
        }
        person.firstName = "Dora"
        token = nil
        person.firstName = "Eva"
        _ = token
        #expect(log == ["Ada Bea", "nil nil"])
    }

    @Test("an assignment notifies observers once, immediately and before the commit K4")
    func local() throws {
        let test = try TestRealm()
        let node = try test.nodes(1)[0]
        let recorder = node.recorder("name", "amount")
        try test.realm.write {
            node.name = "x"
            #expect(recorder.take() == ["name: n1 -> x"])
            node.name = "y"
            #expect(recorder.take() == ["name: x -> y"])
        }
        #expect(recorder.calls == [])
        test.realm.refresh()
        test.scheduler.run()
        #expect(recorder.calls == [])
    }

    @Test("untyped assignments notify observers K4")
    func untyped() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(2)
        let recorder = nodes[0].recorder("name", "next", "children")
        try test.realm.write {
            nodes[0].setValue("x", forKey: "name")
            nodes[0].setValue(nodes[1], forKey: "next")
            nodes[0]["children"] = [nodes[1]]
        }
        #expect(recorder.take() == ["name: n1 -> x", "next: nil -> #2", "children: [] -> live[#2]"])
    }

    @Test("assigning an equal value notifies observers K5")
    func sameValue() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(2)
        let recorder = nodes[0].recorder("name", "next")
        try test.realm.write {
            nodes[0].name = "n1"
            nodes[0].next = nil
        }
        #expect(recorder.calls == ["name: n1 -> n1", "next: nil -> nil"])
    }

    @Test("an assignment notifies only observers of the property of that row K7")
    func others() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(2)
        let (mine, others) = (nodes[0].recorder("name"), nodes[1].recorder("name", "amount"))
        let second = try #require(test.realm.object(ofType: Node.self, forPrimaryKey: 1)).recorder("name")
        try test.realm.write {
            nodes[0].name = "x"
            nodes[0].amount = 2
        }
        #expect(mine.calls == ["name: n1 -> x"])
        #expect(second.calls == ["name: n1 -> x"])
        #expect(others.calls == [])
        try test.changeRemotely(1) { node, _ in node.name = "y" }
        test.realm.refresh()
        #expect(mine.calls.count == 2 && second.calls.count == 2 && others.calls == [])
    }

    @Test("the options initial, old, new and prior select the calls and their values K8")
    func options() throws {
        let test = try TestRealm()
        let node = try test.nodes(1)[0]
        let expected: [(KeyValueObservingOptions, [String])] = [
            ([], ["name"]), ([.old], ["name: n1 -> -"]), ([.new], ["name: - -> x"]), (.both, ["name: n1 -> x"]),
            ([.initial], ["name", "name"]), ([.initial, .new], ["name: - -> n1", "name: - -> x"]),
            ([.initial, .old], ["name", "name: n1 -> -"]), ([.prior], ["prior name", "name"]),
            ([.prior, .old, .new], ["prior name: n1 -> -", "name: n1 -> x"]),
        ]
        for (options, calls) in expected {
            try test.realm.write { node.name = "n1" }
            let recorder = node.recorder("name", options: options)
            try test.realm.write { node.name = "x" }
            #expect(recorder.calls == calls)
            node.removeObserver(recorder, forKeyPath: "name")
        }
    }

    @Test("a prior call sees the old value: on assignment, at refresh, and when a write begins K8")
    func prior() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(3)
        let node = nodes[0]
        var seen: [String] = []
        let token = node.observe(\.name, options: [.prior]) { node, change in
            seen.append("\(change.isPrior) \(node.name) \(node.children.count)")
        }
        try test.realm.write { node.name = "a" }
        try test.changeRemotely(1) { node, realm in
            node.name = "b"
            node.children.append(realm.node(2))
        }
        test.realm.refresh()
        try test.changeRemotely(1) { node, realm in
            node.name = "c"
            node.children.append(realm.node(3))
        }
        try test.realm.write {}
        #expect(seen == ["true n1 0", "false a 0", "true a 0", "false b 1", "true b 1", "false c 2"])
        token.invalidate()
    }

    @Test("observers with Swift key paths get typed values of enums, optionals, links and counts K8")
    func typedValues() throws {
        let test = try TestRealm()
        let (dog, person) = (Dog(name: "Rex"), Person(firstName: "Ada"))
        try test.realm.write { test.realm.add(dog) }
        var log: [String] = []
        var tokens: [KeyValueObservation] = []
        tokens.append(dog.observe(\.size, options: .both) { log.append("\($1.oldValue as Any) \($1.newValue as Any)") })
        tokens.append(dog.observe(\.age, options: .both) { log.append("\($1.oldValue as Any) \($1.newValue as Any)") })
        tokens.append(
            dog.observe(\.owner?.firstName, options: .both) {
                log.append("\($1.oldValue as Any) \($1.newValue as Any)")
            })
        tokens.append(
            dog.observe(\.name.count, options: .both) { log.append("\($1.oldValue as Any) \($1.newValue as Any)") })
        tokens.append(
            dog.observe(\.siblings.count, options: .both) { log.append("\($1.oldValue as Any) \($1.newValue as Any)") })
        try test.realm.write {
            dog.size = .medium
            dog.age = 3
            dog.owner = person
            dog.name = "Bello"
            dog.siblings.append(Dog(name: "Zoe"))
        }
        #expect(
            log == [
                "Optional(KennelModels.Size.small) Optional(KennelModels.Size.medium)",
                "Optional(nil) Optional(Optional(3))",
                "Optional(nil) Optional(Optional(\"Ada\"))", "Optional(3) Optional(5)", "Optional(0) Optional(1)",
            ])
        withExtendedLifetime(tokens) {}
    }

    @Test("an observer can be removed during a call, and the other observers are still called K9")
    func removalInside() throws {
        let test = try TestRealm()
        let node = try test.nodes(1)[0]
        let (first, second, third) = (KeyValueRecorder(), KeyValueRecorder(), KeyValueRecorder())
        for recorder in [first, second, third] { node.addObserver(recorder, forKeyPath: "name") }
        first.onCall = {
            node.removeObserver(first, forKeyPath: "name")
            node.removeObserver(second, forKeyPath: "name")
        }
        try test.realm.write { node.name = "x" }
        #expect((first.calls.count, second.calls.count, third.calls.count) == (1, 0, 1))
        third.onCall = { node.removeObserver(third, forKeyPath: "name") }
        try test.changeRemotely(1) { node, _ in node.name = "y" }
        test.realm.refresh()
        #expect((first.calls.count, second.calls.count, third.calls.count) == (1, 0, 2))
        #expect(node._observers == nil && test.realm.context.keyValue.isEmpty)
    }

    @Test("contexts distinguish the registrations of an observer K9")
    func contexts() throws {
        let test = try TestRealm()
        let node = try test.nodes(1)[0]
        let recorder = KeyValueRecorder()
        let contexts = (1...2).map { UnsafeMutableRawPointer(bitPattern: $0 * 16) }
        node.addObserver(recorder, forKeyPath: "name", options: [], context: contexts[0])
        node.addObserver(recorder, forKeyPath: "name", options: [], context: contexts[1])
        try test.realm.write { node.name = "x" }
        #expect(recorder.contexts == contexts)
        node.removeObserver(recorder, forKeyPath: "name", context: contexts[0])
        try test.realm.write { node.name = "y" }
        #expect(recorder.contexts == contexts + [contexts[1]])
        node.removeObserver(recorder, forKeyPath: "name")
        try test.realm.write { node.name = "z" }
        #expect(recorder.contexts.count == 3)
    }

    @Test(
        "a value of an ignored property belongs to the accessor to which it was assigned, and to no other accessor K11")
    func ignored() throws {
        let test = try TestRealm()
        let dog = Dog(name: "Rex")
        try test.realm.write { test.realm.add(dog) }
        dog.isSelected = true
        #expect(test.realm.objects(Dog.self).first?.isSelected == true)
        try test.onNewThread { realm in #expect(realm.objects(Dog.self).first?.isSelected == false) }
    }

    @Test("deallocated accessors with observers leave no registrations K3")
    func deadAccessors() throws {
        let test = try TestRealm()
        _ = try test.nodes(1)
        let recorder = KeyValueRecorder()
        test.realm.node(1).addObserver(recorder, forKeyPath: "name")
        try test.changeRemotely(1) { node, _ in node.name = "x" }
        test.realm.refresh()
        #expect(recorder.calls == [] && test.realm.context.keyValue.isEmpty)
        let token = test.realm.node(1).observe(\.name) { node, _ in recorder.onCall?() }
        var calls = 0
        recorder.onCall = { calls += 1 }
        try test.changeRemotely(1) { node, _ in node.name = "y" }
        test.realm.refresh()
        #expect(calls == 1)
        token.invalidate()
    }

    @Test("an observer is not called after another thread has invalidated its token K9")
    func endedElsewhere() throws {
        let test = try TestRealm()
        let node = try test.nodes(1)[0]
        var calls = 0
        let token = node.observe(\.name) { _, _ in calls += 1 }
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            token.invalidate()
            done.signal()
        }
        done.wait()
        try test.realm.write { node.name = "x" }
        #expect(calls == 0 && node._observers == nil)
    }

    @Test("a renamed property is observed by its Swift name K29")
    func renamed() throws {
        let test = try TestRealm()
        let dog = Dog(name: "Rex")
        try test.realm.write { test.realm.add(dog) }
        let recorder = dog.recorder("story")
        try test.realm.write { dog.setValue("long", forKey: "story") }
        #expect(recorder.calls == ["story: nil -> long"])
    }

    @Test("value(forKeyPath:) follows links, counts elements, and reads a property of all elements K1")
    func valueForKeyPath() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(3)
        try test.realm.write {
            nodes[0].next = nodes[1]
            nodes[0].children.append(objectsIn: [nodes[1], nodes[2]])
            nodes[0].named["k"] = nodes[2]
        }
        #expect(nodes[0].value(forKeyPath: "next.name") as? String == "n2")
        #expect(nodes[0].value(forKeyPath: "next.next.name") == nil)
        #expect(nodes[0].value(forKeyPath: "children.@count") as? Int == 2)
        #expect(nodes[0].value(forKeyPath: "children.name") as? [String] == ["n2", "n3"])
        #expect(nodes[0].value(forKeyPath: "named.name") as? [String] == ["n3"])
        #expect(nodes[1].value(forKeyPath: "parents.@count") as? Int == 1)
        #expect(nodes[0].value(forKeyPath: "next.isInvalidated") as? Bool == false)
    }

    @Test("a map can be read and observed even if Unicode considers two of its keys equivalent K1 K5")
    func equivalentKeys() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(3)
        let recorder = nodes[0].recorder("named", options: [.old, .new])
        for (position, key) in ["\u{E9}", "e\u{301}"].enumerated() {
            try test.realm.write { nodes[0].named.updateValue(nodes[position + 1], forKey: key) }
        }
        #expect(recorder.take().count == 2 && nodes[0].named.count == 2)
        let names = nodes[0].value(forKeyPath: "named.name") as? [String]
        #expect(names?.sorted() == ["n2", "n3"])
    }
}
