import Dispatch
import MartletEngine

/// What belongs to a Realm and stays on its thread, queue or actor: Realms, objects, collections, projections.
///
/// To take it elsewhere, freeze it, which gives a picture of this moment, or make a `ThreadSafeReference` of it, which leads to
/// the live thing there.
public protocol ThreadConfined {
    /// The Realm; nil for what is in none.
    var realm: Realm? { get }
    /// True once it has ended: what it stands for was deleted, or the Realm invalidated.
    var isInvalidated: Bool { get }
    /// True for what never changes and may be read by any thread.
    var isFrozen: Bool { get }
    /// How to find the same thing in another Realm of the file; nil for what is in none. Traps on what has ended.
    func _locator() -> _Locator?
}

/// Finds one thing in any Realm of its file.
// Sendable: `find` captures keys and types, and is called where the Realm it is given belongs.
public struct _Locator: @unchecked Sendable {
    let coordinator: StoreCoordinator
    let configuration: Realm.Configuration
    /// The version in which it can be found.
    let version: Version
    /// What the thing is called in messages.
    let name: String
    /// Nil where it is not there, or not any more.
    private(set) var find: (RealmContext) -> Any?

    init(_ context: RealmContext, _ name: String, _ find: @escaping (RealmContext) -> Any?) {
        coordinator = context.coordinator
        configuration = context.configuration
        // What the open write has made can be found when it is committed.
        version = context.version + (context.transaction?.recorder.hasChanges == true ? 1 : 0)
        self.name = name
        self.find = find
    }

    /// Finds the thing and makes something of it.
    func then(_ make: @escaping (Any) -> Any?) -> _Locator {
        var next = self
        next.find = { [find] in find($0).flatMap(make) }
        return next
    }

    /// The Realm of the file on the executor that runs now: the one that is open there, or a new one of this thread.
    func currentContext(_ isolation: (any Actor)?) throws -> RealmContext {
        if let isolation { return try context(.actor(isolation), Scheduler.mainQueue(isolation)) }
        let here = coordinator.residents.compactMap { $0 as? RealmContext }.filter(\.confinement.isCurrent)
        if let nearest = here.max(by: { $0.confinement.precedence < $1.confinement.precedence }) { return nearest }
        return try context(.currentThread())
    }

    private func context(_ confinement: Confinement, _ queue: DispatchQueue? = nil) throws -> RealmContext {
        var configuration = configuration
        configuration.scheduler = nil
        return try Realm.context(configuration, coordinator, confinement, queue)
    }
}

extension ThreadConfined {
    /// A picture of this moment: it never changes, and any thread may read it. What it leads to is frozen with it.
    ///
    /// Inside a write it is a picture of the state before that write. Frozen things return themselves. Use `Frozen` to hand
    /// it to other threads, queues and actors with the compiler's consent.
    ///
    /// The version of the file that it shows is kept for as long as anything frozen of it lives, and the file grows
    /// meanwhile: `Realm.pinnedVersions` says who keeps what.
    ///
    /// Traps on what is in no Realm, has ended, or was created in the open write.
    public func freeze(fileID: StaticString = #fileID, line: UInt = #line) -> Self {
        if isFrozen { return self }
        guard let locator = _locator() else { Misuse.unmanagedTransfer("\(Self.self)", "frozen") }
        guard let source = realm?.context else { Misuse.unmanagedTransfer("\(Self.self)", "frozen") }
        guard let frozen = locator.find(source.frozen(fileID, line)) as? Self else {
            Misuse.frozenTooEarly(locator.name)
        }
        return frozen
    }

    /// The live thing that this is a picture of, on the current thread, queue or actor; nil when it is gone. A live one
    /// returns itself.
    ///
    /// The Realm there is refreshed if it shows an older version than this.
    ///
    /// Traps on what is in no Realm.
    public func thaw(isolation: isolated (any Actor)? = #isolation) -> Self? {
        guard let locator = _locator() else { Misuse.unmanagedTransfer("\(Self.self)", "thawed") }
        if !isFrozen { return self }
        do {
            return try locator.currentContext(isolation).resolve(locator) as? Self
        } catch {
            Misuse.cannotThaw(locator.name, "\(error)")
        }
    }
}

extension RealmContext {
    /// Finds something here, after moving to where it can be found.
    func resolve(_ locator: _Locator) -> Any? {
        confinement.require("a Realm")
        if !isFrozen, !isInWrite, version < locator.version { _ = refresh() }
        return locator.find(self)
    }
}

extension Realm: ThreadConfined {
    /// The Realm itself.
    public var realm: Realm? { self }

    /// False: a Realm does not end.
    public var isInvalidated: Bool { false }

    public func _locator() -> _Locator? { _Locator(context, "Realm") { Realm($0) } }
}

extension ObjectBase: ThreadConfined {
    public final func _locator() -> _Locator? {
        guard let context = _context, let table = _table else { return nil }
        if context.access.isOfMigration { Misuse.frozenInMigration() }
        context.confinement.require(_described)
        if isInvalidated { Misuse.invalidated(_typeName, _keyDescription) }
        let (id, key) = (table.id, _key)
        return _Locator(context, "a '\(_typeName)' \(_keyDescription)") { $0.object(key, id) }
    }
}

extension RealmContext {
    /// The object of a row; nil when there is no such row.
    func object(_ key: ObjectKey, _ id: TableID) -> ObjectBase? {
        guard let table = tables[id], table.model != nil else { return nil }
        if isFrozen { return table.frozenObject(key) }
        let object = table.object(key)
        return exists(object) ? object : nil
    }
}
