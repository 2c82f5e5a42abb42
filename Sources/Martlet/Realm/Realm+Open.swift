public import Dispatch
import Foundation
import MartletEngine
import MartletSQLite

extension Realm {
    /// Opens the file of `defaultConfiguration` on this actor, or, in code that belongs to none, on this thread.
    ///
    /// - Throws: `Realm.Error`, as `init(configuration:)` does.
    public init(isolation: isolated (any Actor)? = #isolation) throws {
        try self.init(configuration: .defaultConfiguration, isolation: isolation)
    }

    /// Opens a file, making it if it does not exist: on this actor, or, in code that belongs to none, on this thread.
    ///
    /// Opening the same file again on the same actor or thread gives the same Realm. What the schema adds is added to the file, and
    /// `renamedFrom` keeps the data. Any other difference needs a higher `schemaVersion`: then the file is migrated here, and
    /// is refused otherwise.
    ///
    /// - Throws: `Realm.Error` when the file cannot be used: not found, not accessible, of another program, damaged,
    ///   newer, or with a schema that differs in what cannot change by itself. The file is then as it was.
    public init(configuration: Configuration, isolation: isolated (any Actor)? = #isolation) throws {
        try self.init(configuration, .of(isolation), Scheduler.mainQueue(isolation))
    }

    /// Opens the file of `defaultConfiguration` on this actor, without keeping it from other work meanwhile. In code that
    /// belongs to no actor this does not compile: a thread may not be the same after an `await`.
    ///
    /// - Throws: as `init(configuration:)`.
    public init(isolation: isolated any Actor = #isolation) async throws {
        let coordinator = try await Realm.openedCoordinator(.defaultConfiguration)
        let queue = Scheduler.mainQueue(isolation)
        self.init(try Realm.context(.defaultConfiguration, coordinator, .actor(isolation), queue))
    }

    /// Opens a file on an actor, without keeping it from other work meanwhile: everything from this Realm is used on that
    /// actor only. To be called there, with `actor: self`, or with the shared instance of a global actor.
    ///
    /// - Throws: as `init(configuration:)`.
    public init<Home: Actor>(
        configuration: Configuration = .defaultConfiguration, actor: isolated Home
    ) async throws {
        let coordinator = try await Realm.openedCoordinator(configuration)
        let queue = Scheduler.mainQueue(actor)
        self.init(try Realm.context(configuration, coordinator, .actor(actor), queue))
    }

    /// Opens a file on this actor, without keeping it from other work meanwhile: `try await Realm(configuration:)`. In code
    /// that belongs to no actor this does not compile: a thread may not be the same after an `await`.
    ///
    /// When the task is cancelled before a migration of the file begins, the file is not migrated.
    ///
    /// - Throws: as `init(configuration:)`, and `CancellationError`.
    public init(configuration: Configuration, isolation: isolated any Actor = #isolation) async throws {
        let coordinator = try await Realm.openedCoordinator(configuration)
        let queue = Scheduler.mainQueue(isolation)
        self.init(try Realm.context(configuration, coordinator, .actor(isolation), queue))
    }

    /// The same as `try await Realm(configuration:)`.
    ///
    /// - Throws: as `init(configuration:)`, and `CancellationError`.
    public static func open(
        configuration: Configuration = .defaultConfiguration, isolation: isolated any Actor = #isolation
    ) async throws -> Realm {
        try await Realm(configuration: configuration, isolation: isolation)
    }

    // Opening may migrate or recover the file, which takes its time.
    private static func openedCoordinator(_ configuration: Configuration) async throws -> StoreCoordinator {
        let opening = Task.detached(priority: .userInitiated) {
            try Realm.coordinator(configuration) { Task.isCancelled }
        }
        return try await withTaskCancellationHandler {
            try await opening.value
        } onCancel: {
            opening.cancel()
        }
    }

    /// Opens a file on a serial queue: everything from this Realm is used on that queue only. Call it there, or anywhere
    /// before the queue has work with it. Traps for concurrent and global queues, which run several blocks at once.
    ///
    /// - Throws: as `init(configuration:)`.
    public init(configuration: Configuration = .defaultConfiguration, queue: DispatchQueue?) throws {
        try self.init(configuration, queue.map { .queue($0) } ?? .currentThread(), queue)
    }

    private init(_ configuration: Configuration, _ confinement: Confinement, _ queue: DispatchQueue?) throws {
        self.init(try Realm.context(configuration, Realm.coordinator(configuration), confinement, queue))
    }

    /// The Realm of a file in a home: the one that is open there, or a new one.
    ///
    /// - Parameter queue: where its turns are taken when that is not the current run loop.
    static func context(
        _ configuration: Configuration, _ coordinator: StoreCoordinator, _ confinement: Confinement,
        _ queue: DispatchQueue? = nil
    ) throws -> RealmContext {
        if let open = coordinator.resident(confinement.identity) as? RealmContext,
            open.confinement.isSame(as: confinement)
        {
            open.extend(configuration)
            return open
        }
        let scheduler: Scheduler? =
            if let byHand = configuration.scheduler {
                .byHand(byHand)
            } else if confinement.actor != nil {
                .actor(confinement)
            } else {
                queue.map { .queue($0) } ?? .currentRunLoop()
            }
        let context = RealmContext(
            coordinator, configuration, configuration.models, configuration.readOnly ? .readOnly : .readWrite,
            confinement, scheduler)
        context.standIn = { StoredObject.model(of: $0) }
        context.replaceSnapshot(try translating { try coordinator.openSnapshot() })
        coordinator.register(context.reference, confinement.identity)
        context.follow()
        return context
    }

    static func coordinator(
        _ configuration: Configuration, isCancelled: (@Sendable () -> Bool)? = nil
    ) throws -> StoreCoordinator {
        var options = try configuration.options()
        options.isCancelled = isCancelled
        if !configuration.readOnly { configuration.createDefaultFolder() }
        let coordinator = try translating { try StoreRegistry.coordinator(options) }
        coordinator.environment.yield(.afterOpen)
        return coordinator
    }
}

extension RealmContext: StoreResident {
    package var place: String { confinement.description }
}

extension Realm: Equatable {
    /// True for the same Realm on the same executor.
    public static func == (left: Realm, right: Realm) -> Bool { left.context === right.context }
}

extension Realm {
    /// What this Realm was opened with.
    public var configuration: Configuration { context.configuration }

    /// The object types of the program that this Realm knows.
    public var schema: Schema {
        Schema(
            objectSchema: context.tables.values.filter { $0.model != nil }.map { ObjectSchema(type: $0.type) }
                .sorted { $0.className < $1.className })
    }

    /// True for a Realm that never changes: what `freeze()` gives.
    public var isFrozen: Bool { context.isFrozen }

    /// True inside a write transaction of this Realm.
    public var isInWriteTransaction: Bool { context.isInWrite }

    /// True when no type of the program has an object.
    public var isEmpty: Bool {
        context.confinement.require("a Realm")
        return context.tables.values.allSatisfy { table in
            context.noteRead(.rows(table.id))
            return context.read { try $0.integer("SELECT 1 FROM \(table.layout.table) LIMIT 1") == nil }
        }
    }
}
