import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite struct FullDiskWriteTests {
    @Test("if the disk becomes full during a write, the write throws and is rolled back D3 O4", arguments: 0..<3)
    func fullDisk(_ kind: Int) throws {
        let test = try TestRealm()
        let node = Node(id: 1, name: "a", children: [Node(id: 2)])
        try test.realm.write { test.realm.add(node) }
        var added: Node?
        let error = #expect(throws: Realm.Error.self) {
            try test.realm.write {
                try limitGrowth(test.realm.context.handle, pages: 2)
                let long = String(repeating: "x", count: 50_000)
                switch kind {
                case 0:
                    added = Node(id: 3, name: long)
                    if let added { test.realm.add(added) }
                    test.realm.add(Node(id: 4, next: added))
                case 1:
                    node.name = long
                    #expect(test.realm.objects(Node.self).count == 2)
                    node.amount = 2
                default:
                    for _ in 0..<20_000 { node.children.append(node) }
                    test.realm.delete(test.realm.objects(Node.self).where { $0.id == 2 })
                }
                node.next = node
            }
        }
        #expect(error?.code == .outOfDiskSpace && !test.realm.isInWriteTransaction)
        #expect(node.name == "a" && node.next == nil && node.children.count == 1 && added?.isInvalidated != false)
        #expect(test.realm.objects(Node.self).map(\.id) == [1, 2])
        try test.onNewThread { realm in
            #expect(realm.objects(Node.self).map(\.id) == [1, 2] && realm.objects(Node.self).first?.name == "a")
            try realm.write { realm.objects(Node.self).first?.name = "b" }
        }
        #expect(unfinishedStatement(test.realm.context.handle) == nil)
        test.realm.refresh()
        #expect(node.name == "b")
    }

    @Test("after a failed write, the next write can change a property that the failed write changed D3 O4")
    func laterRows() throws {
        let test = try TestRealm()
        let nodes = [Node(id: 1), Node(id: 2)]
        try test.realm.write { test.realm.add(nodes) }
        let handle = test.realm.context.handle
        #expect(throws: Realm.Error.self) {
            try test.realm.write {
                try limitGrowth(test.realm.context.handle, pages: 2)
                nodes[0].name = String(repeating: "x", count: 50_000)
                nodes[1].amount = 1
            }
        }
        try test.realm.write {
            try limitGrowth(test.realm.context.handle, pages: 1_000)
            nodes[1].amount = 2
        }
        withExtendedLifetime(handle) {}
        try test.onNewThread { realm in #expect(realm.objects(Node.self).map(\.amount) == [0, 2]) }
    }
}
