import MartletEngine

/// Finds the names behind a Swift key path: it is read on an object that writes down which properties it is asked for.
enum KeyPathTracer {
    private struct Trace {
        var names: [String] = []
        /// What was read, kept so that no two are taken for the same.
        var objects: [ObjectBase] = []

        /// False where an object was read twice, as computed properties do.
        var isPath: Bool { Set(objects.map { ObjectIdentifier($0) }).count == objects.count }
    }

    // One trace per thread and at a time.
    @TaskLocal private static var current: TraceBox?

    // Confined to the task that traces.
    private final class TraceBox: @unchecked Sendable {
        var trace = Trace()
    }

    /// The names along `keyPath`; nil when it reads nothing that is stored.
    static func names<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> [String]? {
        names(Root.self) { $0[keyPath: keyPath] }
    }

    /// The same; nil also for a computed property that reads several properties, which is no path.
    static func path<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> [String]? {
        let trace = trace(Root.self) { $0[keyPath: keyPath] }
        return trace.names.isEmpty || !trace.isPath ? nil : trace.names
    }

    /// The names of the properties that `read` asks an object for; nil when it asks for none.
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

    /// An element that records reads, for a collection of an object that does; nil for values, which have no properties.
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

/// An object, or one that may be absent.
private protocol TraceableElement {
    static var traced: Any { get }
}

extension ObjectBase: TraceableElement {
    fileprivate static var traced: Any { KeyPathTracer.traced(self) }
}

extension Optional: TraceableElement where Wrapped: TraceableElement {
    fileprivate static var traced: Any { Wrapped.traced }
}
