import MartletEngine

/// Finds the names behind a Swift key path: it is read on an object that writes down which properties it is asked for.
enum KeyPathTracer {
    private struct Trace {
        var names: [String] = []
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

    /// The names of the properties that `read` asks an object for; nil when it asks for none.
    static func names<Root: ObjectBase>(_ type: Root.Type, _ read: (Root) -> Any) -> [String]? {
        let box = TraceBox()
        $current.withValue(box) {
            _ = read(traced(type))
        }
        return box.trace.names.isEmpty ? nil : box.trace.names
    }

    /// An object that records reads.
    static func traced<T: ObjectBase>(_ type: T.Type) -> T {
        let object = T(_managed: ())
        object._state = .tracing
        return object
    }

    static func record(_ object: ObjectBase, _ property: Int) {
        current?.trace.names.append(object._model.schema.properties[property].name)
    }
}
