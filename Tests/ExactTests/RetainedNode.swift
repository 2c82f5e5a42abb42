import ConformanceModels
import Martlet

/// A node with its collections and embedded objects, retained while a write is made and rolled back. After the
/// rollback, the node and all these objects must be valid.
struct RetainedNode {
    private let serial: Int
    private let id: Int
    private let node: Node
    private let children: List<Node>
    private let peers: MutableSet<Node>
    private let part: Part?
    private let parts: [Part]

    static func all(_ model: ModelState, _ realm: Realm) -> [RetainedNode] {
        model.nodes.compactMap { id, serial in
            realm.object(ofType: Node.self, forPrimaryKey: id).map { node in
                RetainedNode(
                    serial: serial, id: id, node: node, children: node.children, peers: node.peers, part: node.part,
                    parts: Array(node.parts))
            }
        }
    }

    /// The first difference from the model; nil if there is none.
    func mismatch(_ model: ModelState) -> String? {
        if node.isInvalidated { return "node \(id) is still invalidated" }
        if children.isInvalidated || peers.isInvalidated { return "collections of node \(id) are still invalidated" }
        if part?.isInvalidated == true || parts.contains(where: \.isInvalidated) {
            return "embedded objects of node \(id) are still invalidated"
        }
        let names = (node.name, model.text(serial, "name") ?? "")
        if names.0 != names.1 { return "the name of node \(id) is \(names.0) instead of \(names.1)" }
        let counts = (children.count, model.slots(serial, "children").count)
        if counts.0 != counts.1 { return "node \(id) has \(counts.0) children instead of \(counts.1)" }
        if node.part !== part || !zip(node.parts, parts).allSatisfy({ $0 === $1 }) {
            return "node \(id) has other embedded objects than before"
        }
        return nil
    }
}
