import ConformanceModels
import Martlet
import ModelTesting

/// The expected or actual contents of a file: all its nodes, as plain Swift values.
struct FileState: Equatable {
    struct Row: Equatable {
        var name = ""
        var amount = 0.0
        var next: Int?
        var children: [Int] = []
    }

    private(set) var rows: [Int: Row] = [:]

    /// The ids of the nodes that exist from the first transaction on. The amount of node 0 is the number of
    /// transactions.
    static let permanent = 0..<4

    init() {}

    /// Reads the contents of the version that the Realm shows.
    init(_ realm: Realm) {
        for node in realm.objects(Node.self) {
            rows[node.id] = Row(
                name: node.name, amount: node.amount, next: node.next?.id, children: node.children.map(\.id))
        }
    }

    /// The number of transactions that led to this state.
    var sequence: Int { Int(rows[0]?.amount ?? 0) }

    /// A hash of the contents that is the same in every process (FNV-1a of Fowler, Noll and Vo).
    var digest: UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for (id, row) in rows.sorted(by: { $0.key < $1.key }) {
            for byte in "\(id)|\(row.name)|\(row.amount)|\(row.next ?? -1)|\(row.children)\n".utf8 {
                hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
            }
        }
        return hash
    }

    /// Applies the next transaction.
    mutating func apply(_ transaction: Transaction) {
        let count = sequence + 1
        for id in Self.permanent where rows[id] == nil { rows[id] = Row() }
        rows[0]?.amount = Double(count)
        for operation in transaction.operations { apply(operation) }
    }

    private mutating func apply(_ operation: Operation) {
        switch operation {
        case .put(let id, let name, let amount):
            rows[id, default: Row()].name = name
            rows[id]?.amount = amount
        case .remove(let id):
            guard rows.removeValue(forKey: id) != nil else { return }
            for other in rows.keys {
                if rows[other]?.next == id { rows[other]?.next = nil }
                rows[other]?.children.removeAll { $0 == id }
            }
        case .link(let id, let target):
            guard rows[id] != nil, target.map({ rows[$0] != nil }) ?? true else { return }
            rows[id]?.next = target
        case .insert(let id, let target, let position):
            guard let count = rows[id]?.children.count, rows[target] != nil, count < Operation.maximumListLength else {
                return
            }
            rows[id]?.children.insert(target, at: position % (count + 1))
        case .removeFromList(let id, let position):
            guard let count = rows[id]?.children.count, count > 0 else { return }
            rows[id]?.children.remove(at: position % count)
        case .incrementAmounts:
            for id in rows.keys where id != 0 { rows[id]?.amount += 1 }
        }
    }
}

/// One operation of a transaction. `FileState` and `perform` skip an operation that does not apply to the current
/// contents, such as a link from a missing node.
enum Operation {
    case put(Int, name: String, amount: Double)
    case remove(Int)
    case link(Int, Int?)
    case insert(Int, target: Int, position: Int)
    case removeFromList(Int, position: Int)
    /// Increments the amount of every node except node 0, which counts the transactions.
    case incrementAmounts

    static let maximumListLength = 24
    private static let ids = 1...40

    init(_ random: inout SeededRandom) {
        let (id, other) = (Int.random(in: Self.ids, using: &random), Int.random(in: Self.ids, using: &random))
        let position = Int.random(in: 0..<1_000, using: &random)
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<8:
            let length = Int.random(in: 0..<20, using: &random) == 0 ? 6_000 : 1
            let name = String(repeating: "n\(position)", count: length)
            self = .put(id, name: name, amount: Double(position % 100))
        case 8..<11: self = .remove(max(id, FileState.permanent.upperBound))
        case 11..<14: self = .link(id, position % 3 == 0 ? nil : other)
        // All processes with observers observe the list of node 1. So at least half of the list edits concern this
        // list.
        case 14..<19: self = .insert(position % 2 == 0 ? 1 : id, target: other, position: position)
        case 19..<23: self = .removeFromList(position % 2 == 0 ? 1 : id, position: position)
        default: self = .incrementAmounts
        }
    }

    func perform(_ realm: Realm) {
        func node(_ id: Int) -> Node? { realm.object(ofType: Node.self, forPrimaryKey: id) }
        switch self {
        case .put(let id, let name, let amount):
            guard let known = node(id) else { return realm.add(Node(id: id, name: name, amount: amount)) }
            known.name = name
            known.amount = amount
        case .remove(let id):
            if let node = node(id) { realm.delete(node) }
        case .link(let id, let target):
            guard let node = node(id) else { return }
            let linked = target.flatMap { realm.object(ofType: Node.self, forPrimaryKey: $0) }
            if target == nil || linked != nil { node.next = linked }
        case .insert(let id, let target, let position):
            guard let list = node(id)?.children, let target = node(target), list.count < Self.maximumListLength else {
                return
            }
            list.insert(target, at: position % (list.count + 1))
        case .removeFromList(let id, let position):
            guard let list = node(id)?.children, !list.isEmpty else { return }
            list.remove(at: position % list.count)
        case .incrementAmounts:
            for node in realm.objects(Node.self) where node.id != 0 { node.amount += 1 }
        }
    }
}

/// A random transaction. The seed determines its operations.
struct Transaction {
    let seed: UInt64
    let operations: [Operation]

    init(_ seed: UInt64) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        operations = (0..<Int.random(in: 1...6, using: &random)).map { _ in Operation(&random) }
    }

    /// Performs the operations in the open write transaction, and stores the origin and the seed. Returns the position
    /// of this transaction among all transactions of the file, from 1.
    func perform(_ realm: Realm, _ origin: TransactionOrigin) -> Int {
        for id in FileState.permanent where realm.object(ofType: Node.self, forPrimaryKey: id) == nil {
            realm.add(Node(id: id))
        }
        let counter = realm.object(ofType: Node.self, forPrimaryKey: 0)
        let sequence = Int(counter?.amount ?? 0) + 1
        counter?.amount = Double(sequence)
        for operation in operations { operation.perform(realm) }
        realm.add(IntKey(id: sequence, content: "\(origin.processNumber) \(origin.number) \(seed)"))
        return sequence
    }
}

/// The origin of a transaction: the process, and the number of the transaction in this process.
struct TransactionOrigin: Hashable {
    let processNumber: Int
    let number: Int
}
