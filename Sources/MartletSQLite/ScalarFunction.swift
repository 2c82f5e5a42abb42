import CMartletSQLite
package import MartletValues

/// A Swift function that SQL text can call.
package final class ScalarFunction: Sendable {
    package let name: String
    package let argumentCount: Int
    let body: @Sendable (FunctionArguments) -> SQLValue

    package init(_ name: String, argumentCount: Int, _ body: @escaping @Sendable (FunctionArguments) -> SQLValue) {
        self.name = name
        self.argumentCount = argumentCount
        self.body = body
    }
}

/// The arguments of one call of a function. They are valid during the call.
package struct FunctionArguments {
    let count: Int
    let pointer: UnsafeMutablePointer<OpaquePointer?>
    /// The context of the call. Nil in aggregate and table functions, in which `prepared` does not cache values.
    var context: OpaquePointer?

    init(count: Int, pointer: UnsafeMutablePointer<OpaquePointer?>, context: OpaquePointer? = nil) {
        self.count = count
        self.pointer = pointer
        self.context = context
    }

    /// The value that `make` creates from an argument. If the argument is constant within a statement, SQLite caches
    /// the value, so that `make` is not called again for each row.
    ///
    /// For each argument, a function must always use the same type `T`, because the type of a cached value is not
    /// checked. See `sqlite3_get_auxdata`.
    package func prepared<T: AnyObject>(_ index: Int, _ make: () -> T) -> T {
        guard let context else { return make() }
        if let cached = sqlite3_get_auxdata(context, Int32(index)) {
            return Unmanaged<T>.fromOpaque(cached).takeUnretainedValue()
        }
        let made = make()
        // SQLite may release its reference immediately, so this method returns `made` and not the cached value.
        sqlite3_set_auxdata(context, Int32(index), Unmanaged.passRetained(made).toOpaque()) { pointer in
            if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
        }
        return made
    }

    /// Calls `body` with the bytes of a text. Returns nil for values of other types.
    package func withText<R>(_ index: Int, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R? {
        guard sqlite3_value_type(pointer[index]) == SQLITE_TEXT, let bytes = sqlite3_value_text(pointer[index])
        else { return nil }
        return body(UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(pointer[index]))))
    }

    package func text(_ index: Int) -> String? {
        guard sqlite3_value_type(pointer[index]) == SQLITE_TEXT, let bytes = sqlite3_value_text(pointer[index])
        else { return nil }
        let length = Int(sqlite3_value_bytes(pointer[index]))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: length), as: UTF8.self)
    }

    package func isNull(_ index: Int) -> Bool { sqlite3_value_type(pointer[index]) == SQLITE_NULL }

    package func integer(_ index: Int) -> Int64 { sqlite3_value_int64(pointer[index]) }

    package func bytes(_ index: Int) -> [UInt8]? {
        guard sqlite3_value_type(pointer[index]) == SQLITE_BLOB else { return nil }
        guard let start = sqlite3_value_blob(pointer[index]) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(pointer[index]))))
    }

    package func value(_ index: Int) -> SQLValue {
        switch sqlite3_value_type(pointer[index]) {
        case SQLITE_INTEGER: .integer(sqlite3_value_int64(pointer[index]))
        case SQLITE_FLOAT: .real(sqlite3_value_double(pointer[index]))
        case SQLITE_TEXT: text(index).map(SQLValue.text) ?? .null
        case SQLITE_BLOB: bytes(index).map(SQLValue.blob) ?? .null
        default: .null
        }
    }
}

extension Connection {
    /// Makes `function` callable from SQL on this connection. The result of `function` must depend only on the
    /// arguments.
    package func add(_ function: ScalarFunction) throws(SQLiteError) {
        let code = sqlite3_create_function_v2(
            handle, function.name, Int32(function.argumentCount), SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
            Unmanaged.passRetained(function).toOpaque(),
            { context, count, arguments in
                guard let context, let arguments, let data = sqlite3_user_data(context) else { return }
                let function = Unmanaged<ScalarFunction>.fromOpaque(data).takeUnretainedValue()
                let result = function.body(
                    FunctionArguments(count: Int(count), pointer: arguments, context: context))
                ScalarFunction.setResult(result, context)
            }, nil, nil,
            { data in
                if let data { Unmanaged<ScalarFunction>.fromOpaque(data).release() }
            })
        guard code == SQLITE_OK else { throw SQLiteError(handle, code: code) }
    }
}

extension ScalarFunction {
    static func setResult(_ value: SQLValue, _ context: OpaquePointer) {
        switch value {
        case .null: sqlite3_result_null(context)
        case .integer(let number): sqlite3_result_int64(context, number)
        case .real(let number): sqlite3_result_double(context, number)
        case .text(var text):
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { chars in
                    sqlite3_result_text(
                        context, chars.baseAddress, Int32(chars.count),
                        unsafeBitCast(-1, to: sqlite3_destructor_type.self))
                }
            }
        case .blob(let bytes):
            bytes.withUnsafeBytes {
                sqlite3_result_blob(
                    context, $0.baseAddress, Int32($0.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
            }
        }
    }
}
