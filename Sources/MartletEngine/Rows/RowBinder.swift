import MartletSQLite
package import MartletValues

/// Binds the values of one row to the parameters of a statement. Positions begin with 1.
///
/// A binder does not retain the statement, so copies of it cost nothing. It must not be used after the call that
/// received it has returned.
package struct RowBinder {
    private let statement: Unmanaged<Statement>
    private let texts: Unmanaged<TextArena>

    init(_ statement: Statement, _ texts: TextArena) {
        self.statement = Unmanaged.passUnretained(statement)
        self.texts = Unmanaged.passUnretained(texts)
        texts.reset()
    }

    package func bindNull(at position: Int) { statement._withUnsafeGuaranteedRef { $0.bindNull(at: position) } }

    package func bind(_ value: Int64, at position: Int) {
        statement._withUnsafeGuaranteedRef { $0.bind(value, at: position) }
    }

    package func bind(_ value: Double, at position: Int) {
        statement._withUnsafeGuaranteedRef { $0.bind(value, at: position) }
    }

    package func bind(_ value: String, at position: Int) {
        statement._withUnsafeGuaranteedRef { statement in
            texts._withUnsafeGuaranteedRef { $0.bind(value, statement, position) }
        }
    }

    package func bind(_ bytes: UnsafeRawBufferPointer, at position: Int) {
        statement._withUnsafeGuaranteedRef { $0.bind(bytes, at: position) }
    }

    package func bind(_ value: SQLValue, at position: Int) {
        statement._withUnsafeGuaranteedRef { $0.bind(value, at: position) }
    }
}

/// The memory for the strings that are bound to a statement. Their bytes stay in place until the statement has run, so
/// SQLite does not copy them. All object types of a Realm share one arena, because only one statement is bound and run
/// at a time. The arena allocates its memory at the first use.
package final class TextArena {
    @exclusivity(unchecked) private var bytes: UnsafeMutableRawPointer?
    @exclusivity(unchecked) private var used = 0
    private static let capacity = 1 << 16

    package init() {}

    deinit { bytes?.deallocate() }

    func reset() { used = 0 }

    private func memory() -> UnsafeMutableRawPointer {
        if let bytes { return bytes }
        let made = UnsafeMutableRawPointer.allocate(byteCount: Self.capacity, alignment: 16)
        bytes = made
        return made
    }

    func bind(_ text: String, _ statement: Statement, _ parameter: Int) {
        var text = text
        let fits = text.withUTF8 { utf8 in
            guard used + utf8.count <= Self.capacity, let source = utf8.baseAddress else { return false }
            let target = memory() + used
            target.copyMemory(from: source, byteCount: utf8.count)
            statement.bindStaticText(target, count: utf8.count, at: parameter)
            used += utf8.count
            return true
        }
        if !fits { statement.bind(text, at: parameter) }
    }
}
