import CMartletTestVFS
import Foundation
import MartletSQLite
import MartletValues

@testable import MartletEngine

/// A temporary folder that is deleted with this object.
final class TestFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "martlet-engine-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String = "test.realm") -> String { url.appending(path: name).path }

    /// The bytes of a file. If this process has the file open, the call releases all POSIX locks of the process on the
    /// file.
    func bytes(of name: String = "test.realm") -> [UInt8]? {
        FileManager.default.contents(atPath: path(name)).map { [UInt8]($0) }
    }
}

/// A simulated process: a coordinator that is not in the registry. Several simulated processes can use one file, each
/// with its own connections, lock descriptor and memory.
final class VirtualProcess {
    private(set) var coordinator: StoreCoordinator
    /// The snapshot that this process reads. If it is nil, the next read opens a snapshot.
    var handle: SnapshotHandle?

    /// - Parameters:
    ///   - types: The schema facts of the types: the text that generated classes contain.
    ///   - rows: The default values of new columns, by type. Without an entry, new columns are zero.
    init(
        _ path: String, _ types: [String] = [VirtualProcess.note], rows: [String: @Sendable () -> [SQLValue]] = [:],
        adjust: (inout StoreOptions) -> Void = { _ in }
    ) throws {
        coordinator = try StoreCoordinator(Self.options(path, types, rows: rows, adjust: adjust))
    }

    init(_ coordinator: StoreCoordinator) { self.coordinator = coordinator }

    static let note = """
        object Note
        property text String
        property batch Int
        property weight Double
        property tags List<String>
        """

    static func options(
        _ path: String, _ types: [String] = [VirtualProcess.note], rows: [String: @Sendable () -> [SQLValue]] = [:],
        adjust: (inout StoreOptions) -> Void = { _ in }
    ) -> StoreOptions {
        let declarations = types.compactMap(SchemaFactsParser.objectType).map { type in
            TypeDeclaration(type, defaultRow: rows[type.name] ?? { TableLayout.zeroRow(type) })
        }
        var options = StoreOptions(path: path, types: declarations)
        options.durability = .off
        options.environment.log = { _ in }
        // By default, no checkpoint runs in the background, and no write waits for a lock.
        options.environment.checkpointFrames = .max
        options.environment.writeTimeoutMilliseconds = 0
        options.environment.sleep = { _ in }
        adjust(&options)
        return options
    }

    // MARK: Writing

    /// Runs `body` in a write transaction, as a Realm does, and advances to the committed version.
    @discardableResult
    func write(_ body: (WriteTransaction) throws -> Void) throws -> Version {
        var given = handle
        handle = nil
        let transaction: WriteTransaction
        do {
            transaction = try coordinator.beginWrite(replacing: &given)
        } catch {
            handle = given
            throw error
        }
        do {
            try EngineError.wrapping(coordinator.path) { try body(transaction) }
        } catch {
            handle = try? transaction.cancel()
            throw error
        }
        let committed = try transaction.commit().handle
        handle = committed
        return committed.version
    }

    /// Adds one note with a list of tags.
    func add(_ text: String, batch: Int = 0, tags: [String] = []) throws {
        try write { try $0.addNote(text, batch: batch, tags: tags) }
    }

    // MARK: Reading

    func refresh() throws { handle = try coordinator.openSnapshot() }

    func read<R>(_ body: (Connection) throws -> R) throws -> R {
        if handle == nil { try refresh() }
        guard let handle else { throw CancellationError() }
        return try handle.read(body)
    }

    func integer(_ sql: String) throws -> Int64? { try read { try $0.integer(sql) } }

    /// The first column of all rows.
    func column(_ sql: String) throws -> [SQLValue] {
        try read { connection in
            let statement = try connection.statement(sql)
            var values: [SQLValue] = []
            while try statement.step() { values.append(statement.value(0)) }
            return values
        }
    }

    var noteCount: Int {
        get throws { try Int(integer("SELECT count(*) FROM Note NOT INDEXED") ?? -1) }
    }

    /// `ok`, or the errors that SQLite finds.
    var integrity: SQLValue? {
        get throws { try read { try $0.value("PRAGMA integrity_check") } }
    }

    /// The elements of the list `tags` of the note with this key.
    func tags(_ key: ObjectKey) throws -> [SQLValue] {
        let table = "\"Note.tags\""
        var elements = try read { try ChunkedElements(owner: key, table: table, $0) }
        return try elements.all { ordinal, count in
            try self.read { try ChunkedElements.load(owner: key, ordinal: ordinal, count: count, table: table, $0) }
        }
    }
}

extension WriteTransaction {
    /// Inserts a row. `values` has the columns in schema order, without the key column if the runtime assigns keys.
    @discardableResult
    func insert(_ type: String, _ values: [SQLValue]) throws -> ObjectKey {
        guard let table = coordinator.schema[type] else { throw CancellationError() }
        let key = try nextKey(in: table.id)
        var parameters = values
        if table.layout.hasSpecials { parameters.append(.null) }
        if !table.layout.keyIsProperty { parameters.append(.integer(key)) }
        try handle.read { try $0.run(table.layout.insert, parameters) }
        recorder.insert(key, in: table.id)
        return key
    }

    func addNote(_ text: String, batch: Int = 0, tags: [String] = []) throws {
        let key = try insert("Note", [.text(text), .integer(Int64(batch)), .real(0.5)])
        guard !tags.isEmpty, let table = coordinator.schema["Note"], let tagsProperty = table.type["tags"] else {
            return
        }
        var elements = ChunkedElements()
        for (position, tag) in tags.enumerated() { try elements.insert(.text(tag), at: position) { _, _ in [] } }
        let chunks = table.layout.collection(of: tagsProperty.index).chunkTable
        try handle.read { try elements.write(owner: key, table: chunks, $0) }
        let id = CollectionID(table: table.id, property: tagsProperty.index, owner: key)
        recorder.edit(id, .insert(at: 0, count: tags.count))
    }
}

/// The error that `body` throws; nil if `body` throws no error.
func engineError(_ body: () throws -> Void) -> EngineError? {
    do {
        try body()
        return nil
    } catch {
        return error as? EngineError ?? EngineError(.invalidInput, path: "", "not an engine error: \(error)")
    }
}
