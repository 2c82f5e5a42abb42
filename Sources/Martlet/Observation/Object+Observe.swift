public import Dispatch
import MartletEngine

/// What is observed as one object: its properties are named in changes.
public protocol KeyPathObservable: ObjectBase {}

extension Object: KeyPathObservable {}
extension EmbeddedObject: KeyPathObservable {}

extension KeyPathObservable {
    /// Calls `block` after changes of the object's properties, and once when it is deleted.
    ///
    /// - Parameters:
    ///   - keyPaths: which properties count, through links too; nil for the object's own.
    ///   - queue: a serial queue to observe on instead; the object given to the block then belongs to it.
    ///   - block: is told of each change.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(queue) { context, table in
            ObservedItems.properties(context.requireKeyPaths(keyPaths, table), table, context.schema)
        } tell: { outcome in
            switch outcome {
            case .change(let object, let changes): block(.change(unsafeDowncast(object, to: Self.self), changes))
            case .deleted: block(.deleted)
            case .failure(let error): block(.error(error))
            }
        }
    }

    /// The same with typed key paths.
    public func observe(
        keyPaths: [any KeyPathDescriptor<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map(\.keyPath), on: queue, block)
    }

    /// The same with Swift key paths.
    public func observe(
        keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { Self.path($0) }, on: queue, block)
    }
}

extension ObjectBase {
    /// The names of a Swift key path, as text.
    static func path<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> String {
        guard let names = KeyPathTracer.path(keyPath) else {
            Misuse.unknownKeyPath("\(keyPath)", component: "\(keyPath)", type: Root.className())
        }
        return names.joined(separator: ".")
    }

    /// Observes on this Realm's executor or on a queue, after all checks.
    func observe(
        _ queue: DispatchQueue?, _ items: (RealmContext, TableID) -> ObservedItems,
        tell: @escaping (ObjectObservation.Outcome) -> Void
    ) -> NotificationToken {
        guard let context = _context, let table = _table else { Misuse.observeUnmanaged(_typeName) }
        context.requireObservable("a '\(_typeName)'", onQueue: queue != nil)
        if isInvalidated { Misuse.invalidated(_typeName, _keyDescription) }
        let items = items(context, table.id)
        guard let queue else {
            let token = NotificationToken(context)
            ObjectObservation.start(self, items, token.registration, tell)
            return token
        }
        let (id, key) = (table.id, _key)
        return context.observe(on: queue, { tell(.failure($0)) }) { context, registration in
            let objects = context.table(id)
            // Deleted before anybody could look there.
            guard objects.exists(key) else { return registration.isEnded ? () : tell(.deleted) }
            ObjectObservation.start(objects.object(key), items, registration, tell)
        }
    }
}

extension Realm {
    /// Calls `block` after each commit that this Realm makes or moves to, even an empty one.
    ///
    /// With `autorefresh` off a commit of others is announced as `.refreshRequired`. The Realm lives as long as it is
    /// observed.
    public func observe(_ block: @escaping (Notification, Realm) -> Void) -> NotificationToken {
        context.requireObservable("a Realm")
        let token = NotificationToken(context)
        context.hub.add(token.registration, context, block)
        return token
    }
}
