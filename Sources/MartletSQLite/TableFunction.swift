import CMartletSQLite
package import MartletValues

/// A Swift function that returns rows. SQL text can select from these rows.
///
/// It is an eponymous virtual table with the arguments as hidden columns. See "The Virtual Table Mechanism Of SQLite",
/// section "Table-valued functions". The function computes all rows when a scan begins.
package final class TableFunction: Sendable {
    package typealias Row = [SQLValue]

    package let name: String
    let columns: [String]
    let argumentCount: Int
    let body: @Sendable (FunctionArguments) throws(MalformedArguments) -> [Row]

    /// Thrown if the arguments are malformed because the file is damaged. The statement fails with this message.
    package struct MalformedArguments: Error {
        let message: String

        package init(_ message: String) { self.message = message }
    }

    package init(
        _ name: String, columns: [String], argumentCount: Int,
        _ body: @escaping @Sendable (FunctionArguments) throws(MalformedArguments) -> [Row]
    ) {
        self.name = name
        self.columns = columns
        self.argumentCount = argumentCount
        self.body = body
    }

    fileprivate var declaration: String {
        let hidden = (0..<argumentCount).map { "a\($0) HIDDEN" }
        return "CREATE TABLE x(\((columns + hidden).joined(separator: ", ")))"
    }
}

extension Connection {
    /// Makes `function` available to SQL on this connection.
    package func add(_ function: TableFunction) throws(SQLiteError) {
        let code = sqlite3_create_module_v2(
            handle, function.name, TableFunction.module, Unmanaged.passRetained(function).toOpaque(),
            { data in
                if let data { Unmanaged<TableFunction>.fromOpaque(data).release() }
            })
        guard code == SQLITE_OK else { throw SQLiteError(handle, code: code) }
    }
}

// SQLite refers to a table by a pointer to `base`, so `base` must be the first member. This is also true for `Cursor`.
private struct Table {
    var base = sqlite3_vtab()
    let function: Unmanaged<TableFunction>
}

private struct Cursor {
    var base = sqlite3_vtab_cursor()
    var rows: [TableFunction.Row] = []
    var position = 0
}

private func cursor(_ pointer: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> UnsafeMutablePointer<Cursor>? {
    pointer.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: Cursor.self) }
}

private func function(_ table: UnsafeMutablePointer<sqlite3_vtab>) -> TableFunction {
    UnsafeMutableRawPointer(table).assumingMemoryBound(to: Table.self).pointee.function.takeUnretainedValue()
}

extension TableFunction {
    // The module is created once and never changed or released, because SQLite keeps its address.
    nonisolated(unsafe) fileprivate static let module: UnsafeMutablePointer<sqlite3_module> = {
        let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        module.initialize(to: sqlite3_module())
        // Without 'xCreate' the table is eponymous: it exists without a CREATE statement.
        module.pointee.xConnect = { handle, data, _, _, table, _ in
            guard let data, let table else { return SQLITE_INTERNAL }
            let function = Unmanaged<TableFunction>.fromOpaque(data)
            let code = sqlite3_declare_vtab(handle, function.takeUnretainedValue().declaration)
            guard code == SQLITE_OK else { return code }
            let memory = UnsafeMutablePointer<Table>.allocate(capacity: 1)
            memory.initialize(to: Table(function: function))
            table.pointee = UnsafeMutableRawPointer(memory).assumingMemoryBound(to: sqlite3_vtab.self)
            return SQLITE_OK
        }
        module.pointee.xDisconnect = { table in
            UnsafeMutableRawPointer(table)?.assumingMemoryBound(to: Table.self).deallocate()
            return SQLITE_OK
        }
        module.pointee.xBestIndex = { table, info in
            guard let table, let info else { return SQLITE_INTERNAL }
            return TableFunction.plan(function(table), info)
        }
        module.pointee.xOpen = { _, result in
            let memory = UnsafeMutablePointer<Cursor>.allocate(capacity: 1)
            memory.initialize(to: Cursor())
            result?.pointee = UnsafeMutableRawPointer(memory).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
            return SQLITE_OK
        }
        module.pointee.xClose = { base in
            cursor(base)?.deinitialize(count: 1).deallocate()
            return SQLITE_OK
        }
        module.pointee.xFilter = { base, _, _, count, arguments in
            guard let memory = cursor(base), let table = memory.pointee.base.pVtab, let arguments else {
                return SQLITE_INTERNAL
            }
            do throws(TableFunction.MalformedArguments) {
                memory.pointee.rows = try function(table).body(
                    FunctionArguments(count: Int(count), pointer: arguments))
            } catch {
                sqlite3_free(table.pointee.zErrMsg)
                table.pointee.zErrMsg = TableFunction.copy(error.message)
                return SQLITE_CORRUPT
            }
            memory.pointee.position = 0
            return SQLITE_OK
        }
        module.pointee.xNext = { base in
            cursor(base)?.pointee.position += 1
            return SQLITE_OK
        }
        module.pointee.xEof = { base in
            guard let memory = cursor(base) else { return 1 }
            return memory.pointee.position < memory.pointee.rows.count ? 0 : 1
        }
        module.pointee.xColumn = { base, context, column in
            guard let memory = cursor(base), let context else { return SQLITE_INTERNAL }
            let row = memory.pointee.rows[memory.pointee.position]
            ScalarFunction.setResult(Int(column) < row.count ? row[Int(column)] : .null, context)
            return SQLITE_OK
        }
        module.pointee.xRowid = { base, rowid in
            rowid?.pointee = Int64(cursor(base)?.pointee.position ?? 0)
            return SQLITE_OK
        }
        return module
    }()

    // Copies a message to memory that SQLite frees.
    private static func copy(_ message: String) -> UnsafeMutablePointer<CChar>? {
        let bytes = Array(message.utf8CString)
        guard let memory = sqlite3_malloc64(UInt64(bytes.count)) else { return nil }
        bytes.withUnsafeBytes {
            memory.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: $0.count)
        }
        return memory.assumingMemoryBound(to: CChar.self)
    }

    // Describes a scan for SQLite. A scan is possible only if every argument has a value.
    private static func plan(_ function: TableFunction, _ info: UnsafeMutablePointer<sqlite3_index_info>) -> Int32 {
        var found = 0
        for index in 0..<Int(info.pointee.nConstraint) {
            let constraint = info.pointee.aConstraint[index]
            let argument = Int(constraint.iColumn) - function.columns.count
            guard argument >= 0, Int32(constraint.op) == SQLITE_INDEX_CONSTRAINT_EQ else { continue }
            guard constraint.usable != 0 else { return SQLITE_CONSTRAINT }
            info.pointee.aConstraintUsage[index].argvIndex = Int32(argument + 1)
            info.pointee.aConstraintUsage[index].omit = 1
            found += 1
        }
        guard found == function.argumentCount else { return SQLITE_CONSTRAINT }
        info.pointee.estimatedCost = 1_000
        info.pointee.estimatedRows = 100
        return SQLITE_OK
    }
}
