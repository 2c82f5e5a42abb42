import CMartletSQLite
package import MartletValues

/// The state of one aggregation while SQLite passes rows to it.
package protocol Aggregation: AnyObject {
    init()
    /// Adds one row, whose values are the arguments.
    func step(_ arguments: FunctionArguments)
    /// The result. SQLite requests it after the last row.
    var result: SQLValue { get }
}

/// An aggregate function in Swift that SQL text can call.
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

/// Creates the aggregations of one function. SQLite keeps the factory as the user data of the function.
private final class AggregationFactory {
    let make: () -> any Aggregation

    init(_ make: @escaping () -> any Aggregation) { self.make = make }

    /// The aggregation of a call. If the call has no aggregation yet, this method creates one if `createsIfNeeded` is
    /// true. Otherwise it returns nil.
    static func current(_ context: OpaquePointer, createsIfNeeded: Bool) -> (any Aggregation)? {
        // SQLite allocates zeroed memory for each aggregation. This memory contains a reference to the aggregation.
        let size = createsIfNeeded ? MemoryLayout<UnsafeMutableRawPointer?>.size : 0
        guard let memory = sqlite3_aggregate_context(context, Int32(size)) else { return nil }
        let slot = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        if let existing = slot.pointee {
            return Unmanaged<AnyObject>.fromOpaque(existing).takeUnretainedValue() as? any Aggregation
        }
        guard createsIfNeeded, let data = sqlite3_user_data(context) else { return nil }
        let aggregation = Unmanaged<AggregationFactory>.fromOpaque(data).takeUnretainedValue().make()
        slot.pointee = Unmanaged<AnyObject>.passRetained(aggregation).toOpaque()
        return aggregation
    }

    /// Releases the aggregation of a call.
    static func end(_ context: OpaquePointer) {
        guard let memory = sqlite3_aggregate_context(context, 0) else { return }
        let slot = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        if let existing = slot.pointee { Unmanaged<AnyObject>.fromOpaque(existing).release() }
        slot.pointee = nil
    }

    func resultOfNoRows() -> SQLValue { make().result }
}

extension Connection {
    /// Makes `function` callable from SQL on this connection. The result of `function` must depend only on
    /// the rows.
    package func add(_ function: AggregateFunction) throws(SQLiteError) {
        let aggregation = function.aggregation
        let code = sqlite3_create_function_v2(
            handle, function.name, Int32(function.argumentCount), SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
            Unmanaged.passRetained(AggregationFactory { aggregation.init() }).toOpaque(), nil,
            { context, count, arguments in
                guard let context, let arguments else { return }
                AggregationFactory.current(context, createsIfNeeded: true)?
                    .step(FunctionArguments(count: Int(count), pointer: arguments))
            },
            { context in
                guard let context, let data = sqlite3_user_data(context) else { return }
                let factory = Unmanaged<AggregationFactory>.fromOpaque(data).takeUnretainedValue()
                let current = AggregationFactory.current(context, createsIfNeeded: false)
                ScalarFunction.setResult(current?.result ?? factory.resultOfNoRows(), context)
                AggregationFactory.end(context)
            },
            { data in
                if let data { Unmanaged<AggregationFactory>.fromOpaque(data).release() }
            })
        guard code == SQLITE_OK else { throw SQLiteError(handle, code: code) }
    }
}
