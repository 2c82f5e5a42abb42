public import Dispatch
import MartletEngine

/// An object that can be observed. Its observers receive the names of the properties that changed.
public protocol KeyPathObservable: ObjectBase {}

extension Object: KeyPathObservable {}
extension EmbeddedObject: KeyPathObservable {}

extension KeyPathObservable {
    /// Calls `block` after each change of the object's properties, and once when the object is deleted.
    ///
    /// - Parameters:
    ///   - keyPaths: the observed properties. A key path may lead through links. Nil for the properties of the object
    ///     itself.
    ///   - queue: a serial queue on which `block` is called instead. The object that the block receives can be used on
    ///     this queue only.
    ///   - block: the closure that is called with each change.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(queue) { context, table in
            ObservedItems.properties(context.requireKeyPaths(keyPaths, table), table, context.schema)
        } notify: { outcome in
            switch outcome {
            case .change(let object, let changes): block(.change(unsafeDowncast(object, to: Self.self), changes))
            case .deleted: block(.deleted)
            case .failure(let error): block(.error(error))
            }
        }
    }

    /// Calls `block` after each change of the properties at typed key paths.
    public func observe(
        keyPaths: [any KeyPathDescriptor<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map(\.keyPath), on: queue, block)
    }

    /// Calls `block` after each change of the properties at Swift key paths.
    public func observe(
        keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { Self.path($0) }, on: queue, block)
    }
}

extension KeyPathObservable {
    /// Unavailable: the key paths of an observed object begin at its class.
    @available(*, unavailable, message: "the key path does not begin at the class of the observed object")
    public func observe(
        keyPaths: [any KeyPathDescriptor], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken { observe(on: queue, block) }
}

extension ObjectBase {
    /// The dotted text of a Swift key path.
    static func path<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> String {
        guard let names = KeyPathTracer.path(keyPath) else {
            Misuse.unknownKeyPath("\(keyPath)", component: "\(keyPath)", type: Root.className())
        }
        return names.joined(separator: ".")
    }

    /// Checks that the object can be observed, then registers an observer on this Realm's executor or on a queue.
    func observe(
        _ queue: DispatchQueue?, _ items: (RealmContext, TableID) -> ObservedItems,
        notify: @escaping (ObjectObservation.Outcome) -> Void
    ) -> NotificationToken {
        guard let context = _context, let table = _table else { Misuse.observeUnmanaged(_typeName) }
        context.requireObservable("a '\(_typeName)'", onQueue: queue != nil)
        if isInvalidated { Misuse.invalidated(_typeName, _keyDescription) }
        let items = items(context, table.id)
        guard let queue else {
            let token = NotificationToken(context)
            ObjectObservation.start(self, items, token.registration, notify)
            return token
        }
        let (row, version) = (RowID(table: table.id, key: _key), context.version)
        return context.observe(on: queue, { notify(.failure($0)) }) { context, registration in
            let objects = context.table(row.table)
            // The object may have been deleted before the queue looks it up.
            guard context.hasKept(row, since: version) else {
                return registration.isEnded ? () : notify(.deleted)
            }
            ObjectObservation.start(objects.object(row.key), items, registration, notify)
        }
    }
}

extension Realm {
    /// Calls `block` after each commit of this Realm, even if the commit is empty, and after this Realm moves to a
    /// newer version.
    ///
    /// If `autorefresh` is off, a commit of another Realm is reported as `.refreshRequired`. The observation keeps the
    /// Realm alive.
    public func observe(_ block: @escaping (Notification, Realm) -> Void) -> NotificationToken {
        context.requireObservable("a Realm")
        let token = NotificationToken(context)
        context.hub.add(token.registration, context, block)
        return token
    }
}
