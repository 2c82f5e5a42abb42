import ConformanceModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

/// The cost of a deletion depends only on the links of the deleted object, not on the number of other links.
@Suite struct DeletionCostTests {
    /// A kind of collection of links or of embedded objects.
    enum Kind: CaseIterable, CustomTestStringConvertible {
        case list, set, map, embedded

        var testDescription: String { "\(self)" }

        func fill(_ node: Node, _ others: some Sequence<Node>) {
            switch self {
            case .list: node.children.append(objectsIn: others)
            case .set: node.peers.insert(objectsIn: others)
            case .map: for (index, other) in others.enumerated() { node.named["\(index)"] = other }
            case .embedded: for _ in others { node.parts.append(Part()) }
            }
        }
    }

    /// The number of SQLite steps that the deletion of 20 owners needs, in a file with `others` other links.
    private func cost(_ kind: Kind, others: Int, isEmpty: Bool) throws -> Int {
        let test = try TestRealm()
        let targets = (0..<10).map { Node(id: $0) }
        try test.realm.write {
            test.realm.add(targets)
            let unrelated = (0..<others / 10).map { Node(id: 1_000 + $0) }
            test.realm.add(unrelated)
            for (index, node) in unrelated.enumerated() {
                kind.fill(node, (0..<10).map { unrelated[(index + 7 * $0) % unrelated.count] })
            }
            for id in 100..<120 {
                let owner = Node(id: id)
                test.realm.add(owner)
                if !isEmpty { kind.fill(owner, targets) }
            }
        }
        try test.realm.beginWrite()
        defer { test.realm.cancelWrite() }
        let handle = try #require(test.realm.context.transaction?.handle)
        return try steps(handle) {
            for id in 100..<120 {
                test.realm.delete(try #require(test.realm.object(ofType: Node.self, forPrimaryKey: id)))
            }
        }
    }

    @Test(
        "the cost of deleting the owner of a collection does not depend on other collections O6",
        arguments: Kind.allCases)
    func owner(_ kind: Kind) throws {
        for isEmpty in [false, true] {
            let (few, many) = (
                try cost(kind, others: 200, isEmpty: isEmpty), try cost(kind, others: 6_000, isEmpty: isEmpty)
            )
            #expect(few > 100 && many < few * 3 / 2, "\(few) steps among few links, \(many) among many")
        }
    }
}
