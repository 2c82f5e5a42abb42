import MartletSchema

/// The names of the constraints and indexes of tables.
///
/// PostgreSQL chooses the same names for constraints that are created without names. A name that is too long or occurs
/// twice ends with a hash of the table, the columns and the kind of the constraint. All names therefore depend only on
/// the schema.
struct ConstraintNames {
    /// The names that occur more than once.
    private let repeated: Set<String>

    init(_ tables: [TableModel]) {
        var counts: [String: Int] = [:]
        for table in tables {
            counts[table.name, default: 0] += 1
            for name in Self.all(of: table) { counts[Self.text(name), default: 0] += 1 }
        }
        repeated = Set(counts.filter { $0.value > 1 }.keys)
    }

    private typealias Parts = (table: String, columns: [String], kind: String)

    private static func all(of table: TableModel) -> [Parts] {
        (table.primaryKey.isEmpty ? [] : [(table.name, [], "pkey")])
            + table.unique.map { (table.name, $0, "key") } + table.indexes.map { (table.name, [$0], "idx") }
            + (table.singleNull == nil ? [] : [(table.name, ["owner"], "idx")])
    }

    func primaryKey(_ table: String) -> String { name((table, [], "pkey")) }
    func unique(_ table: String, _ columns: [String]) -> String { name((table, columns, "key")) }
    func index(_ table: String, _ column: String) -> String { name((table, [column], "idx")) }
    func check(_ table: String, _ column: String) -> String { name((table, [column], "check")) }
    func foreignKey(_ table: String, _ column: String) -> String { name((table, [column], "fkey")) }

    private static func text(_ parts: Parts) -> String {
        ([parts.table] + parts.columns + [parts.kind]).joined(separator: "_")
    }

    private func name(_ parts: Parts) -> String {
        let text = Self.text(parts)
        guard text.utf8.count > SQLName.maximumBytes || repeated.contains(text) else { return text }
        let identity = ([parts.table] + parts.columns + [parts.kind]).joined(separator: " ")
        return "\(text.prefix(SQLName.maximumBytes - 17))_\(Self.hash(identity))"
    }

    /// The FNV-1a hash of a text, as 16 hexadecimal digits.
    private static func hash(_ text: String) -> String {
        let value = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
