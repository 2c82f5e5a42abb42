import MartletEngine

/// Finds the property names of a Swift key path. It reads the key path on an object that records which properties are
/// read.
enum KeyPathTracer {
    private struct Trace {
        var names: [String] = []
        /// The objects that were read. They are retained so that no two of them have the same address.
        var objects: [ObjectBase] = []

        /// False if two properties of one object were read. Only a computed property can read two properties of one
        /// object.
        var isPath: Bool { Set(objects.map { ObjectIdentifier($0) }).count == objects.count }
    }

    // The trace that the current task is recording; nil if the task is not tracing.
    @TaskLocal private static var current: TraceBox?

    // Sendable: only the task that traces uses it.
    private final class TraceBox: @unchecked Sendable {
        var trace = Trace()
    }

    /// The names of the properties along `keyPath`. Nil if the key path reads no stored property, or if it contains a
    /// computed property that reads several properties of one object.
    static func path<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> [String]? {
        let trace = trace(Root.self) { $0[keyPath: keyPath] }
        return trace.names.isEmpty || !trace.isPath ? nil : trace.names
    }

    /// The names of the properties that `read` reads; nil if `read` reads no property.
    static func names<Root: ObjectBase>(_ type: Root.Type, _ read: (Root) -> Any) -> [String]? {
        let names = trace(type, read).names
        return names.isEmpty ? nil : names
    }

    private static func trace<Root: ObjectBase>(_ type: Root.Type, _ read: (Root) -> Any) -> Trace {
        let box = TraceBox()
        $current.withValue(box) {
            _ = read(traced(type))
        }
        return box.trace
    }

    /// An object that records reads.
    static func traced<T: ObjectBase>(_ type: T.Type) -> T {
        let object = type.init(_managed: ())
        object._state = .tracing
        return object
    }

    /// An object that records reads and represents every element of a collection of `owner`. Nil if `owner` does not
    /// record reads. Also nil if the elements are values, because values have no properties.
    static func element<E>(_ owner: ObjectBase, _ type: E.Type) -> E? {
        guard owner._state == .tracing else { return nil }
        return (type as? any TraceableElement.Type)?.traced as? E
    }

    static func record(_ object: ObjectBase, _ property: Int) {
        current?.trace.names.append(object._model.schema.properties[property].name)
        current?.trace.objects.append(object)
    }

    static func recordInvalidation() -> Bool {
        current?.trace.names.append(KeyValueObservers.invalidationName)
        return false
    }
}

/// An object type, or an optional object type.
private protocol TraceableElement {
    static var traced: Any { get }
}

extension ObjectBase: TraceableElement {
    fileprivate static var traced: Any { KeyPathTracer.traced(self) }
}

extension Optional: TraceableElement where Wrapped: TraceableElement {
    fileprivate static var traced: Any { Wrapped.traced }
}
