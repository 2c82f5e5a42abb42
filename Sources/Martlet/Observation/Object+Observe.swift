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
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        let context = requireObservable(keyPaths)
        if let queue {
            let (table, key) = (_table?.id ?? 0, _key)
            return RemoteObservation.start(context, queue, block) { realm, block in
                let objects = realm.context.table(table)
                guard objects.exists(key) else { return nil }
                return unsafeDowncast(objects.object(key), to: Self.self).observe(keyPaths: keyPaths, block)
            }
        }
        return observeProperties(context, keyPaths) { [self] outcome in
            switch outcome {
            case .change(let properties): block(.change(self, properties))
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
        keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { Self.path($0) }, on: queue, block)
    }
}

extension ObjectBase {
    /// The names of a Swift key path, as text.
    static func path<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> String {
        guard let names = KeyPathTracer.names(keyPath) else {
            Misuse.unknownKeyPath("\(keyPath)", component: "\(keyPath)", type: Root.className())
        }
        return names.joined(separator: ".")
    }

    func requireObservable(_ keyPaths: [String]?) -> RealmContext {
        guard let context = _context, let table = _table else { Misuse.observeUnmanaged(_typeName) }
        if isInvalidated { Misuse.invalidated(_typeName, _keyDescription) }
        context.requireObservable("a '\(_typeName)'", keyPaths, table.id)
        return context
    }

    func observeProperties(
        _ context: RealmContext, _ keyPaths: [String]?, _ tell: @escaping (ObjectEntry.Outcome) -> Void
    ) -> NotificationToken {
        guard let table = _table else { Misuse.observeUnmanaged(_typeName) }
        let token = NotificationToken(context)
        do {
            let tracker = try ObjectTracker(
                table: table.id, key: _key, keyPaths: keyPaths.map { $0.map { PropertyPath($0) } }, context.schema)
            let entry = ObjectEntry(tracker, self, delivered: context.version, tell)
            entry.token = token
            context.hub.add(entry)
        } catch {
            Misuse.unknownKeyPath(keyPaths?.joined(separator: ", ") ?? "", component: error.name, type: error.type)
        }
        return token
    }
}

extension Realm {
    /// Calls `block` after each commit that this Realm makes or moves to, even an empty one.
    public func observe(_ block: @escaping (Notification, Realm) -> Void) -> NotificationToken {
        context.requireObservable("a Realm", nil, nil)
        let token = NotificationToken(context)
        context.hub.add(token, block)
        return token
    }
}
