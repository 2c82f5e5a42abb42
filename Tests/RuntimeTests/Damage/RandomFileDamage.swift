import ConformanceModels
import Foundation
import MartletEngine
import MartletSQLite
import MartletTestSupport
import MartletValues
import ModelTesting

@testable import Martlet

/// Creates statements that damage a random table of a file, and runs operations of all kinds on the damaged file. The
/// table may belong to an object type or to the runtime.
enum RandomFileDamage {
    private static let values = [
        "NULL", "0", "1", "-1", "2", "99", "100000", "9223372036854775807", "-9223372036854775808", "1.5", "9e999",
        "''",
        "'abc'", "'5'", "CAST(x'ff' AS TEXT)", "x''", "x'00'", "x'01'", "x'0a'", "x'09000000010000000000000001'",
        "zeroblob(16)", "randomblob(24)",
    ]

    /// A random statement that changes or deletes rows of a random table.
    static func sql(_ seed: UInt64, in path: String) throws -> String {
        var random = SeededRandom(seed: seed)
        let connection = try Connection(ConnectionOptions(path: path))
        defer { connection.close() }
        let tables = try texts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", connection).filter {
            try connection.integer("SELECT 1 FROM \"\($0)\" LIMIT 1") == 1
        }
        let table = tables.randomElement(using: &random) ?? "Scalars"
        let columns = try texts("SELECT name FROM pragma_table_info('\(table)')", connection)
        let column = columns.randomElement(using: &random) ?? "id"
        let value =
            column == "elements" && Bool.random(using: &random)
            ? elements(&random) : values.randomElement(using: &random) ?? "NULL"
        if Int.random(in: 0..<8, using: &random) == 0 { return "DELETE FROM \"\(table)\"" }
        return "UPDATE \"\(table)\" SET \"\(column)\" = \(value)"
    }

    private static func texts(_ sql: String, _ connection: Connection) throws -> [String] {
        let statement = try connection.statement(sql)
        var texts: [String] = []
        while try statement.step() { texts.append(statement.text(0)) }
        return texts
    }

    // The SQL literal of a chunk with elements of random types.
    private static func elements(_ random: inout SeededRandom) -> String {
        let choices: [SQLValue] = [
            .null, .integer(1), .integer(77), .real(1.5), .text("a"), .blob([1, 2]),
            .blob([UInt8](repeating: 1, count: 16)),
            .blob([10, 10]),
        ]
        let count = Int.random(in: 0..<4, using: &random)
        let bytes = ElementCodec.encode((0..<count).map { _ in choices.randomElement(using: &random) ?? .null })
        return "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    }

    /// Installs signal handlers. When the process traps, it writes "trapped" and exits with the code that the test
    /// expects.
    static func exitAtTraps() {
        for number in [SIGILL, SIGTRAP] {
            signal(number) { _ in
                write(2, "trapped\n", 8)
                _exit(7)
            }
        }
    }

    /// Reads, queries, observes, copies and deletes objects of the file. A `Realm.Error` is a valid outcome.
    static func readAll(_ path: String) throws {
        var configuration = Realm.Configuration(fileURL: URL(filePath: path))
        let scheduler = ManualScheduler()
        configuration.scheduler = scheduler
        guard let realm = attempt({ try Realm(configuration: configuration) }) else { return }
        let copy = URL(filePath: path + ".copy")
        attempt { try realm.writeCopy(toFile: copy) }
        var tokens: [NotificationToken] = []
        tokens.append(realm.objects(Node.self).sorted(byKeyPath: "amount").observe { _ in })
        if let node = realm.objects(Node.self).first { tokens.append(node.observe { _ in }) }
        if let lists = realm.objects(ScalarLists.self).first { tokens.append(lists.anyValues.observe { _ in }) }
        if scheduler.waitForWork(seconds: 0.2) { scheduler.run() }
        attempt { try realm.write { realm.add(Node(id: 50, name: "new", amount: 2.5)) } }
        if scheduler.waitForWork(seconds: 0.2) { scheduler.run() }
        print(realm.objects(Node.self).where { $0.children.name == "n3" || $0.named.amount > 1 }.count)
        print(realm.objects(ScalarLists.self).where { $0.ints.contains(2) }.count)
        let sum: Double = realm.objects(Node.self).sum(ofProperty: "amount")
        let greatest: Int? = realm.objects(Scalars.self).max(ofProperty: "int")
        print(sum, greatest ?? 0)
        attempt { try realm.write { realm.delete(realm.objects(Node.self).filter("id == 2")) } }
        for name in ["Scalars", "OptionalScalars", "EnumHolder", "Node", "ScalarLists", "Part"] {
            for object in realm.dynamicObjects(name) { print(object.object.description) }
        }
        for node in realm.freeze().objects(Node.self) {
            print(node.name, node.next?.name ?? "", node.children.map(\.name), node.part?.name ?? "")
            print(node.named.map { $0.value?.name ?? "" }, node.parents.map(\.id))
        }
        for lists in realm.objects(ScalarLists.self) {
            print(
                lists.ints.map { $0 }, lists.strings.map { $0 }, lists.uuids.map { $0 },
                lists.anyValues.map { $0.count })
        }
        attempt { try realm.write { realm.deleteAll() } }
        print(realm.objects(Node.self).count)
        tokens.forEach { $0.invalidate() }
    }

    /// Returns nil if `body` throws a `Realm.Error`. Traps if it throws another error.
    @discardableResult
    private static func attempt<R>(_ body: () throws -> R) -> R? {
        do {
            return try body()
        } catch let error as Realm.Error {
            print(error)
            return nil
        } catch {
            preconditionFailure("unexpected error: \(error)")
        }
    }
}
