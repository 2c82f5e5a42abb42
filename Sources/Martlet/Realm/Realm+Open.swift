public import Dispatch
import Foundation
import MartletEngine
import MartletSQLite

extension Realm {
    /// Opens the file of `defaultConfiguration` on this thread.
    ///
    /// - Throws: `Realm.Error`, as `init(configuration:)` does.
    public init() throws { try self.init(configuration: .defaultConfiguration) }

    /// Opens a file on this thread, making it if it does not exist.
    ///
    /// Opening the same file again on the same thread gives the same Realm. What the schema adds is added to the file, and
    /// `renamedFrom` keeps the data. Any other difference needs a higher `schemaVersion`: then the file is migrated here, and
    /// is refused otherwise.
    ///
    /// - Throws: `Realm.Error` when the file cannot be used: not found, not accessible, of another program, damaged,
    ///   newer, or with a schema that differs in what cannot change by itself. The file is then as it was.
    public init(configuration: Configuration) throws {
        try self.init(configuration, .currentThread())
    }

    /// Opens a file on a serial queue: everything from this Realm is used on that queue only. Call it there, or anywhere
    /// before the queue has work with it.
    ///
    /// - Throws: as `init(configuration:)`.
    public init(configuration: Configuration = .defaultConfiguration, queue: DispatchQueue?) throws {
        try self.init(configuration, queue.map { .queue($0) } ?? .currentThread())
    }

    private init(_ configuration: Configuration, _ confinement: Confinement) throws {
        let coordinator = try Realm.coordinator(configuration)
        if let open = coordinator.resident(confinement.identity) as? RealmContext {
            open.extend(configuration)
            self.init(open)
            return
        }
        let scheduler: Scheduler?
        if let byHand = configuration.scheduler {
            scheduler = .byHand(byHand)
        } else if case .queue(let queue) = confinement.home {
            scheduler = .queue(queue)
        } else {
            scheduler = Scheduler.currentRunLoop()
        }
        let context = RealmContext(
            coordinator, configuration, configuration.models, configuration.readOnly ? .readOnly : .readWrite,
            confinement,
            scheduler)
        context.replaceSnapshot(try translating { try coordinator.openSnapshot() })
        coordinator.register(context, confinement.identity)
        context.follow()
        self.init(context)
    }

    static func coordinator(_ configuration: Configuration) throws -> StoreCoordinator {
        let options = try configuration.options()
        return try translating { try StoreRegistry.coordinator(options) }
    }
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

    /// False: a Realm is live.
    public var isFrozen: Bool { false }

    /// True inside a write transaction of this Realm.
    public var isInWriteTransaction: Bool { context.isInWrite }

    /// True when no type of the program has an object.
    public var isEmpty: Bool {
        context.confinement.require("a Realm")
        return context.tables.values.allSatisfy { table in
            context.read { try $0.integer("SELECT 1 FROM \(table.layout.table) LIMIT 1") == nil }
        }
    }
}
