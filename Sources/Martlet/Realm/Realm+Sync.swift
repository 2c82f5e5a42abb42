import Foundation
package import MartletEngine
package import MartletValues

/// The synchronization of a Realm, which the module `MartletSync` implements.
package protocol RealmSynchronization: Sendable {
    /// Adds the recording of changes to the options of the file. Called before the file is opened.
    func prepare(_ options: inout StoreOptions) throws

    /// Called on the executor of a Realm when the Realm was opened there.
    func didOpen(_ realm: Realm) throws
}

extension Realm {
    /// The open file of this Realm.
    package var coordinator: StoreCoordinator { context.coordinator }

    /// Traps outside of the executor of this Realm.
    package func requireOnExecutor() { context.confinement.require("a Realm") }

    /// Traps inside a write of this Realm, because a change of the subscriptions would wait for the lock of that write.
    package func requireNoWrite() { if context.isInWrite { Misuse.alreadyInWrite() } }

    package static func trapSubscriptionsOutsideUpdate() -> Never { Misuse.subscriptionsOutsideUpdate() }

    /// Stops the program because the Realm has no synchronization.
    package func trapNotSynchronized() -> Never { Misuse.notSynchronized(coordinator.path) }

    /// Stops the program because a property could not read the file. The getters of properties do not throw errors.
    package func readFailed(_ error: any Swift.Error) -> Never { context.readFailed(error) }

    /// Moves the Realm to the newest version. Does nothing if the Realm is frozen, or if the program refreshes the
    /// Realm itself.
    package func showNewestVersion() { if autorefresh, !isFrozen { refresh() } }

    /// The primary key of an object; nil if there is no such object, or if its type has no primary key.
    package func primaryKey(of key: ObjectKey, type: String) throws -> SQLValue? {
        guard let table = context.table(named: type), let property = table.type.primaryKey else { return nil }
        return try Martlet.translating {
            try context.handle.read { try StoredRow(key, table.layout, $0)?.value(property) }
        }
    }
}

extension Realm.Error {
    /// An error of the synchronization.
    package init(synchronization code: Code, path: String? = nil, message: String) {
        self.init(code, path: path, message)
    }

    /// Runs `body` and converts errors of the engine to `Realm.Error`.
    package static func translating<R>(_ body: () throws -> R) throws -> R { try Martlet.translating(body) }
}

extension Results {
    /// The name of the queried type, and the definition of the results.
    package var definition: (type: String, plan: QueryPlan) { (storage.table.type.name, storage.plan) }

    /// The name of the subscription to which the results belong. Nil if the results belong to no subscription.
    /// `.some(nil)` if the subscription has no name.
    package var subscriptionName: String?? { storage.subscriptionName }

    /// Results with the same definition that belong to the subscription with this name.
    package func subscribed(as name: String?) -> Results {
        let subscribed = storage.adding { _ in }
        subscribed.subscriptionName = .some(name)
        return Results(subscribed)
    }
}

extension AnyRealmValue {
    /// The value of a primary key. Other values become `none`.
    package init(primaryKey stored: SQLValue, of property: PropertySchema) {
        self =
            switch UntypedValue.swift(stored, property.element) {
            case let value as String: .string(value)
            case let value as UUID: .uuid(value)
            case let value as ObjectId: .objectId(value)
            case let value as any BinaryInteger: .int(Int(value))
            default: .none
            }
    }
}
