import MartletSQLite
import MartletValues
import ModelTesting
import Testing

@testable import MartletEngine

@Suite("deletion of rows")
struct RowDeletionTests {
    private func write(_ graph: RowGraph, _ body: (DeletionHost) throws -> Void) throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path(), RowGraph.types)
        try process.write { transaction in
            let host = DeletionHost(transaction)
            try graph.store(host)
            try body(host)
        }
    }

    @Test(
        "random deletions with cascades leave the rows, links and denials that a model predicts O59 O60 O61",
        arguments: [false, true])
    func random(observers: Bool) throws {
        let failure = try Campaign("MARTLET_DELETIONS", count: 150).firstFailure { seed in
            try differences(seed, observers: observers)
        }
        #expect(failure == nil)
    }

    /// Deletes random nodes three times, one to three nodes each time. With `observers`, half of the calls of observers
    /// delete another random node, at most three nodes each time.
    private func differences(_ seed: UInt64, observers: Bool) throws -> String? {
        var random = SeededRandom(seed: seed)
        var graph = RowGraph(count: Int.random(in: 2...14, using: &random), &random)
        var found: String?
        try write(graph) { host in
            for _ in 0..<3 where found == nil {
                guard !graph.nodes.isEmpty else { return }
                let start = graph.nodes.keys.sorted().shuffled(using: &random).prefix(
                    .random(in: 1...3, using: &random))
                var further: [ObjectKey] = []
                if observers {
                    host.observer = { host in
                        guard further.count < 3, Bool.random(using: &random) else { return }
                        let key = ObjectKey.random(in: 1...14, using: &random)
                        further.append(key)
                        try host.delete(host.nodes([key]))
                    }
                }
                host.denials = DeletionDenials()
                try host.delete(host.nodes(start))
                host.observer = nil
                let deleted = graph.closure(start + further)
                found = try check(host, &graph, deleted)
            }
        }
        return found
    }

    private func check(_ host: DeletionHost, _ graph: inout RowGraph, _ deleted: Set<ObjectKey>) throws -> String? {
        let denials = graph.denials(deleted)
        graph.delete(deleted)
        if let difference = try graph.difference(from: host) { return difference }
        for row in host.nodes(deleted) where host.calls[row] != [.willDelete, .rowWasDeleted, .didDelete] {
            return "calls for the node \(row.key): \(host.calls[row] ?? [])"
        }
        if host.denials.firstHolder?.row.key != denials.holder || host.denials.firstTarget?.row.key != denials.target {
            return "denials \(host.denials), expected \(denials)"
        }
        return nil
    }

    @Test("a chain of 20,000 cascades is deleted without overflowing the stack O60")
    func chain() throws {
        var random = SeededRandom(seed: 1)
        var graph = RowGraph(count: 1, &random)
        graph.parts = [:]
        for key in ObjectKey(1)...20_000 { graph.nodes[key] = RowGraph.Row(links: key == 1 ? [:] : ["boss": key - 1]) }
        try write(graph) { host in
            try host.delete(host.nodes([1]))
            let count = try host.transaction.handle.read { try $0.integer("SELECT count(*) FROM Node") }
            #expect(count == 0)
        }
    }

    @Test("a row that is deleted twice, or does not exist, is skipped")
    func repeated() throws {
        var random = SeededRandom(seed: 3)
        let graph = RowGraph(count: 2, &random)
        try write(graph) { host in
            try host.delete(host.nodes([1, 1, 9]))
            try host.delete(host.nodes([1]))
            #expect(host.calls[host.nodes([1])[0]]?.filter { $0 == .rowWasDeleted }.count == 1)
            #expect(host.calls[host.nodes([9])[0]]?.contains(.rowWasDeleted) == false)
        }
    }
}
