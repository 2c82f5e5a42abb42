import MartletValues
import ModelTesting

@testable import MartletEngine

/// A model of a file with nodes and parts. The model predicts which rows a deletion deletes, which denials the deletion
/// records, and which rows and links remain.
struct RowGraph {
    struct Row: Equatable {
        var links: [String: ObjectKey] = [:]
        var collections: [String: [ObjectKey]] = [:]

        /// Removes the links to deleted nodes. The properties `part` and `parts` are skipped, because they contain keys
        /// of parts.
        mutating func unlink(_ deleted: Set<ObjectKey>) {
            for (name, target) in links where name != "part" && deleted.contains(target) { links[name] = nil }
            for (name, targets) in collections where name != "parts" {
                collections[name] = targets.filter { !deleted.contains($0) }
            }
        }

        var parts: [ObjectKey] { (links["part"].map { [$0] } ?? []) + (collections["parts"] ?? []) }
    }

    static let types = [
        """
        object Node
        property name String
        property next link:Node?
        property boss link:Node? onDelete=cascade
        property guard link:Node? onDelete=deny
        property ward link:Node? deleteRule=cascade
        property keep link:Node? deleteRule=deny
        property part embedded:Part?
        property peers List<link:Node>
        property crew Set<link:Node> onDelete=cascade
        property wards List<link:Node> deleteRule=cascade
        property parts List<embedded:Part>
        """,
        "embedded Part\nproperty to link:Node?",
    ]

    var nodes: [ObjectKey: Row] = [:]
    var parts: [ObjectKey: Row] = [:]

    /// Creates nodes with the keys from 1 to `count`, each with a few random links. Also creates parts, each of which
    /// belongs to one node.
    init(count: Int, _ random: inout SeededRandom) {
        let keys = ClosedRange(uncheckedBounds: (ObjectKey(1), ObjectKey(count)))
        for key in keys {
            var row = Row()
            for name in ["next", "boss", "guard", "ward", "keep"] where Int.random(in: 0..<6, using: &random) == 0 {
                row.links[name] = .random(in: keys, using: &random)
            }
            for name in ["peers", "crew", "wards"] where Int.random(in: 0..<5, using: &random) == 0 {
                let targets = (0..<3).map { _ in ObjectKey.random(in: keys, using: &random) }
                row.collections[name] = name == "crew" ? Set(targets).sorted() : targets
            }
            if Int.random(in: 0..<4, using: &random) == 0 { row.links["part"] = addPart(keys, &random) }
            if Int.random(in: 0..<6, using: &random) == 0 {
                row.collections["parts"] = [addPart(keys, &random), addPart(keys, &random)]
            }
            nodes[key] = row
        }
    }

    private mutating func addPart(_ keys: ClosedRange<ObjectKey>, _ random: inout SeededRandom) -> ObjectKey {
        let key = ObjectKey(parts.count + 1)
        parts[key] = Row(links: Bool.random(using: &random) ? ["to": .random(in: keys, using: &random)] : [:])
        return key
    }

    /// The given nodes, and all nodes that cascades delete with them.
    func closure(_ start: some Sequence<ObjectKey>) -> Set<ObjectKey> {
        var deleted: Set<ObjectKey> = []
        var pending = Array(start)
        while let key = pending.popLast() {
            guard let row = nodes[key], deleted.insert(key).inserted else { continue }
            pending += (row.collections["wards"] ?? []) + (row.links["ward"].map { [$0] } ?? [])
            for (holder, row) in nodes
            where row.links["boss"] == key || row.collections["crew"]?.contains(key) == true { pending.append(holder) }
        }
        return deleted
    }

    /// The parts that are deleted with these nodes.
    func parts(of deleted: Set<ObjectKey>) -> Set<ObjectKey> { Set(deleted.flatMap { nodes[$0]?.parts ?? [] }) }

    /// The nodes of the expected denials. `holder` is the remaining node with the lowest key that has an `onDelete:
    /// deny` link to a deleted node. `target` is the remaining node with the lowest key to which a deleted node has a
    /// `deleteRule: deny` link.
    func denials(_ deleted: Set<ObjectKey>) -> (holder: ObjectKey?, target: ObjectKey?) {
        let holders = nodes.keys.filter { key in
            !deleted.contains(key) && nodes[key]?.links["guard"].map(deleted.contains) == true
        }
        let targets = deleted.compactMap { nodes[$0]?.links["keep"] }.filter { !deleted.contains($0) }
        return (holders.min(), targets.min())
    }

    mutating func delete(_ deleted: Set<ObjectKey>) {
        for part in parts(of: deleted) { parts[part] = nil }
        for key in deleted { nodes[key] = nil }
        for key in nodes.keys { nodes[key]?.unlink(deleted) }
        for key in parts.keys { parts[key]?.unlink(deleted) }
    }
}

// MARK: The file

extension RowGraph {
    /// Adds all rows to a file.
    func store(_ host: DeletionHost) throws {
        for key in nodes.keys.sorted() {
            guard let row = nodes[key] else { continue }
            let links = ["next", "boss", "guard", "ward", "keep", "part"].map { row.links[$0] }
            try host.transaction.insert("Node", [.text("n\(key)")] + links.map { $0.map { .integer($0) } ?? .null })
            for (name, targets) in row.collections {
                try host.edit(host.collection(name, of: key)) { _ in targets.map { .integer($0) } }
            }
        }
        for key in parts.keys.sorted() {
            try host.transaction.insert("Part", [parts[key]?.links["to"].map { .integer($0) } ?? .null])
        }
    }

    /// A difference between this model and the file; nil if there is none.
    func difference(from host: DeletionHost) throws -> String? {
        for (type, rows) in [("Node", nodes), ("Part", parts)] {
            guard let table = host.schema[type] else { return "no table \(type)" }
            let store = host.rows(of: table.id)
            let stored = try host.transaction.handle.read { try store.keys($0) }
            if Set(stored) != Set(rows.keys) { return "\(type): the keys \(stored), expected \(rows.keys.sorted())" }
            for (key, row) in rows {
                for property in table.type.properties where property.element.target != nil {
                    let found = try host.transaction.handle.read { connection in
                        if property.isCollection { return try store.targets(of: property, key, connection) }
                        let value = try store.value(of: property.index, key, connection)
                        guard case .integer(let target)? = value else { return [] }
                        return [target]
                    }
                    let expected =
                        property.isCollection
                        ? Set(row.collections[property.name] ?? []).sorted()
                        : row.links[property.name].map { [$0] } ?? []
                    if found != expected { return "\(type) \(key).\(property.name): \(found), expected \(expected)" }
                }
            }
        }
        return nil
    }
}

extension DeletionHost {
    /// The collection property of a node.
    func collection(_ name: String, of key: ObjectKey) -> CollectionID {
        guard let table = schema["Node"], let property = table.type[name] else { preconditionFailure("no \(name)") }
        return CollectionID(table: table.id, property: property.index, owner: key)
    }

    func nodes(_ keys: some Sequence<ObjectKey>) -> [RowID] {
        guard let table = schema["Node"]?.id else { return [] }
        return keys.map { RowID(table: table, key: $0) }
    }
}
