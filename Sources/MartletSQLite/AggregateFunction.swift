import CMartletSQLite

/// What one aggregation has seen so far.
package protocol Aggregation: AnyObject {
    init()
    /// Takes the arguments of one row.
    func step(_ arguments: FunctionArguments)
    /// The outcome, once all rows have been seen.
    var outcome: SQLValue { get }
}

/// A Swift aggregate that SQL text may call.
package struct AggregateFunction: Sendable {
    package let name: String
    package let argumentCount: Int
    let aggregation: any (Aggregation & SendableMetatype).Type

    package init(_ name: String, argumentCount: Int, _ aggregation: any (Aggregation & SendableMetatype).Type) {
        self.name = name
        self.argumentCount = argumentCount
        self.aggregation = aggregation
    }
}

/// Keeps the type of an aggregation for SQLite.
private final class AggregationType {
    let make: () -> any Aggregation

    init(_ make: @escaping () -> any Aggregation) { self.make = make }

    /// The aggregation of a call; nil when there is none yet and none is to be made.
    static func current(_ context: OpaquePointer, makes: Bool) -> (any Aggregation)? {
        // SQLite gives each aggregation zeroed memory, big enough for one reference here.
        let size = makes ? MemoryLayout<UnsafeMutableRawPointer?>.size : 0
        guard let memory = sqlite3_aggregate_context(context, Int32(size)) else { return nil }
        let slot = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        if let known = slot.pointee {
            return Unmanaged<AnyObject>.fromOpaque(known).takeUnretainedValue() as? any Aggregation
        }
        guard makes, let data = sqlite3_user_data(context) else { return nil }
        let aggregation = Unmanaged<AggregationType>.fromOpaque(data).takeUnretainedValue().make()
        slot.pointee = Unmanaged<AnyObject>.passRetained(aggregation).toOpaque()
        return aggregation
    }

    /// Lets go of the aggregation of a call.
    static func end(_ context: OpaquePointer) {
        guard let memory = sqlite3_aggregate_context(context, 0) else { return }
        let slot = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        if let known = slot.pointee { Unmanaged<AnyObject>.fromOpaque(known).release() }
        slot.pointee = nil
    }

    func outcomeOfNothing() -> SQLValue { make().outcome }
}

extension Connection {
    /// Makes `function` callable from SQL on this connection. The same rows always give the same answer.
    package func add(_ function: AggregateFunction) throws(SQLiteError) {
        let aggregation = function.aggregation
        let code = sqlite3_create_function_v2(
            handle, function.name, Int32(function.argumentCount), SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
            Unmanaged.passRetained(AggregationType { aggregation.init() }).toOpaque(), nil,
            { context, count, arguments in
                guard let context, let arguments else { return }
                AggregationType.current(context, makes: true)?
                    .step(FunctionArguments(count: Int(count), pointer: arguments))
            },
            { context in
                guard let context, let data = sqlite3_user_data(context) else { return }
                let type = Unmanaged<AggregationType>.fromOpaque(data).takeUnretainedValue()
                let current = AggregationType.current(context, makes: false)
                ScalarFunction.answer(current?.outcome ?? type.outcomeOfNothing(), context)
                AggregationType.end(context)
            },
            { data in
                if let data { Unmanaged<AggregationType>.fromOpaque(data).release() }
            })
        guard code == SQLITE_OK else { throw SQLiteError(handle, code: code) }
    }
}
