public import Dispatch
import Foundation
import MartletEngine
import MartletValues
import Synchronization

private final class OpeningCancellation: Sendable {
    let isRequested = Mutex(false)
}

/// The actor that opens a Realm with `await`.
///
/// In code without an actor, `#isolation` is nil, and the compiler reports that nil is not of the expected type. The
/// error contains this type name, so the name says what to do.
public typealias `an actor: mark the caller '@MainActor', or open the Realm in a function without 'async'` = any Actor

extension Realm {
    /// Opens the file of `defaultConfiguration` on the current actor or, in code without an actor, on the current
    /// thread.
    ///
    /// - Throws: `Realm.Error`, as `init(configuration:)` does.
    public init(isolation: isolated (any Actor)? = #isolation) throws {
        try self.init(configuration: .defaultConfiguration, isolation: isolation)
    }

    /// Opens a file, or creates it, on the current actor or, in code without an actor, on the current thread.
    ///
    /// Opening the same file again on the same actor or thread returns the same Realm. The configuration may contain
    /// classes whose types are missing in the version that this Realm shows. In this case, opening refreshes the Realm.
    /// Inside a write or an observer the Realm cannot be refreshed, and opening throws.
    ///
    /// Additions to the schema are applied to the file. If the schema gives the former name of a type or property with
    /// `renamedFrom`, opening renames the type or property and keeps its data. Every other difference requires a higher
    /// `schemaVersion`. If the version is higher, opening migrates the file. If the version is not higher, opening
    /// throws.
    ///
    /// - Throws: `Realm.Error` if the file cannot be found, accessed or read, belongs to another program, was written
    ///   with a higher schema version, or needs a migration. The file is then unchanged.
    public init(configuration: Configuration, isolation: isolated (any Actor)? = #isolation) throws {
        try self.init(configuration, .of(isolation), Scheduler.mainQueue(isolation))
    }

    /// Opens the file of `defaultConfiguration` on the current actor, without blocking the actor.
    ///
    /// This initializer does not compile in code without an actor, because the thread may change at an `await`.
    ///
    /// - Throws: The errors of `init(configuration:)`, and `CancellationError`.
    public init(
        isolation: isolated `an actor: mark the caller '@MainActor', or open the Realm in a function without 'async'` =
            #isolation
    ) async throws {
        let coordinator = try await Realm.openedCoordinator(.defaultConfiguration)
        let queue = Scheduler.mainQueue(isolation)
        self.init(try Realm.context(.defaultConfiguration, coordinator, .actor(isolation), queue))
    }

    /// Opens a file on an actor, without blocking the actor. The Realm and everything obtained from it can be used on
    /// this actor only.
    ///
    /// Pass `actor: self` if the caller is an actor, or the shared instance of a global actor.
    ///
    /// - Throws: The errors of `init(configuration:)`, and `CancellationError`.
    public init<ActorType: Actor>(
        configuration: Configuration = .defaultConfiguration, actor: isolated ActorType
    ) async throws {
        let coordinator = try await Realm.openedCoordinator(configuration)
        let queue = Scheduler.mainQueue(actor)
        self.init(try Realm.context(configuration, coordinator, .actor(actor), queue))
    }

    /// Opens a file on the current actor, without blocking the actor: `try await Realm(configuration:)`.
    ///
    /// This initializer does not compile in code without an actor, because the thread may change at an `await`. If the
    /// task is cancelled before a migration of the file begins, the file is not migrated.
    ///
    /// - Throws: The errors of `init(configuration:)`, and `CancellationError`.
    public init(
        configuration: Configuration,
        isolation: isolated `an actor: mark the caller '@MainActor', or open the Realm in a function without 'async'` =
            #isolation
    ) async throws {
        let coordinator = try await Realm.openedCoordinator(configuration)
        let queue = Scheduler.mainQueue(isolation)
        self.init(try Realm.context(configuration, coordinator, .actor(isolation), queue))
    }

    /// Opens a file on the current actor, without blocking the actor, as `try await Realm(configuration:)` does.
    ///
    /// - Throws: The errors of `init(configuration:)`, and `CancellationError`.
    public static func open(
        configuration: Configuration = .defaultConfiguration,
        isolation: isolated `an actor: mark the caller '@MainActor', or open the Realm in a function without 'async'` =
            #isolation
    ) async throws -> Realm {
        try await Realm(configuration: configuration, isolation: isolation)
    }

    // Opens the file in the background, because a migration or recovery may take a long time.
    private static func openedCoordinator(_ configuration: Configuration) async throws -> StoreCoordinator {
        // The work begins after the cancellation handler is installed, so no cancellation is missed.
        let cancellation = OpeningCancellation()
        return try await withTaskCancellationHandler {
            try await Task.detached(priority: .userInitiated) {
                try Realm.coordinator(configuration) { cancellation.isRequested.withLock { $0 } }
            }.value
        } onCancel: {
            cancellation.isRequested.withLock { $0 = true }
        }
    }

    /// Opens a file on a serial queue. The Realm and everything obtained from it can be used on this queue only.
    ///
    /// Call this initializer on the queue, or on another thread before the queue uses the Realm. Traps for concurrent
    /// and global queues, which run several blocks at the same time.
    ///
    /// - Throws: The errors of `init(configuration:)`.
    public init(configuration: Configuration = .defaultConfiguration, queue: DispatchQueue?) throws {
        try self.init(configuration, queue.map { .queue($0) } ?? .currentThread(), queue)
    }

    private init(_ configuration: Configuration, _ confinement: Confinement, _ queue: DispatchQueue?) throws {
        let coordinator = try Realm.coordinator(configuration, for: confinement)
        self.init(try Realm.context(configuration, coordinator, confinement, queue))
    }

    /// The Realm of a file with the given confinement: an open Realm if there is one, otherwise a new Realm.
    ///
    /// - Parameter queue: the queue on which the Realm schedules work; nil for the actor or the current run loop.
    static func context(
        _ configuration: Configuration, _ coordinator: StoreCoordinator, _ confinement: Confinement,
        _ queue: DispatchQueue? = nil
    ) throws -> RealmContext {
        let known = coordinator.openRealm(confinement.identity)
        if let open = known as? RealmContext, open.confinement.isSame(as: confinement) {
            if configuration.tracksReads { open.trackReads() }
            try open.add(configuration.models)
            try translating { try configuration.synchronization?.didOpen(Realm(open)) }
            return open
        }
        let scheduler: Scheduler? =
            if let manual = configuration.scheduler {
                .manual(manual)
            } else if confinement.actor != nil {
                .actor(confinement)
            } else {
                queue.map { .queue($0) } ?? .currentRunLoop()
            }
        let context = RealmContext(
            coordinator, configuration, configuration.models, configuration.readOnly ? .readOnly : .readWrite,
            confinement, scheduler)
        context.makeFallbackModel = { StoredObject.model(of: $0) }
        context.hooks.refresh = { [unowned context] in context.hub.refresh(context) }
        context.replaceSnapshot(try translating { try coordinator.openSnapshot() })
        context.startListening()
        // The Realm is complete before it is registered, because another thread may open a Realm for the same queue. If
        // that thread was faster, this thread returns the Realm of that thread.
        guard coordinator.register(context.reference, confinement.identity, replacing: known) else {
            return try Realm.context(configuration, coordinator, confinement, queue)
        }
        try translating { try configuration.synchronization?.didOpen(Realm(context)) }
        return context
    }

    /// The coordinator of a file. Opens the file if this process does not have the file open.
    ///
    /// - Parameter confinement: the current executor, on which the caller waits; nil in the background.
    static func coordinator(
        _ configuration: Configuration, for confinement: Confinement? = nil,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws -> StoreCoordinator {
        var options = try configuration.options()
        options.isCancelled = isCancelled
        if !configuration.readOnly { configuration.createDefaultFolder() }
        let coordinator = try translating {
            try StoreRegistry.coordinator(options) { open in
                if let confinement { try requireExtensible(open, options, confinement) }
            }
        }
        coordinator.environment.yield(.afterOpen)
        return coordinator
    }

    // Throws if a Realm on the current executor prevents the addition of types to an open file. If this Realm is in a
    // write, the thread would wait for a write lock that it already holds.
    private static func requireExtensible(
        _ open: StoreCoordinator, _ options: StoreOptions, _ confinement: Confinement
    ) throws {
        for case let context as RealmContext in open.openRealms where context.confinement.isCurrent {
            if context.isInWrite || context.confinement.isSame(as: confinement) { try context.requireRefreshable() }
        }
    }
}

extension RealmContext: OpenRealm {
    package var executorDescription: String { confinement.description }
}

extension Realm: Equatable {
    /// True if both values represent the same Realm on the same executor.
    public static func == (left: Realm, right: Realm) -> Bool { left.context === right.context }
}

extension Realm {
    /// The configuration with which this Realm was opened.
    public var configuration: Configuration { context.configuration }

    /// The object types of the program that this Realm knows.
    public var schema: Schema {
        Schema(
            objectSchema: context.tables.values.filter { $0.model != nil }.map { ObjectSchema(type: $0.type) }
                .sorted { $0.className < $1.className })
    }

    /// True for a frozen Realm, which `freeze()` returns. A frozen Realm never changes.
    public var isFrozen: Bool { context.isFrozen }

    /// True inside a write transaction of this Realm.
    public var isInWriteTransaction: Bool { context.isInWrite }

    /// True if the Realm contains no objects of the program's types.
    public var isEmpty: Bool {
        context.confinement.require("a Realm")
        return context.tables.values.allSatisfy { table in
            if table.model == nil { return true }
            context.recordRead(.rows(table.id))
            return context.read { try table.rows.isEmpty($0) }
        }
    }
}
