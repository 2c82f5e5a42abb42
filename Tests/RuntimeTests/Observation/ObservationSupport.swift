import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

/// Records the calls of observers as lines of text.
final class Log {
    var lines: [String] = []
    var tokens: [NotificationToken] = []

    /// Returns the lines that were added since the last call of `take`.
    func take() -> [String] {
        defer { lines = [] }
        return lines
    }

    func end() { tokens = [] }
}

extension Log {
    convenience init<C: ObservableCollection>(_ collection: C, keyPaths: [String]? = nil) {
        self.init()
        tokens.append(collection.observe(keyPaths: keyPaths) { [unowned self] in lines.append(text($0)) })
    }

    convenience init<O: KeyPathObservable>(object: O, keyPaths: [String]? = nil) {
        self.init()
        tokens.append(object.observe(keyPaths: keyPaths) { [unowned self] in lines.append(text($0)) })
    }

    convenience init(_ realm: Realm) {
        self.init()
        tokens.append(realm.observe { [unowned self] notification, _ in lines.append("\(notification)") })
    }
}

/// Returns `initial`, the positions of the deletions, insertions and modifications, such as `[0] [2, 3] []`, or the
/// error.
func text<C>(_ change: RealmCollectionChange<C>) -> String {
    switch change {
    case .initial: "initial"
    case .update(_, let deletions, let insertions, let modifications): "\(deletions) \(insertions) \(modifications)"
    case .error(let error): "\(error)"
    }
}

/// Returns `deleted`, each changed property as `name: old → new`, or the error.
func text<O>(_ change: ObjectChange<O>) -> String {
    switch change {
    case .deleted: "deleted"
    case .change(_, let changes):
        changes.map { "\($0.name): \(shown($0.oldValue)) → \(shown($0.newValue))" }.joined(separator: ", ")
    case .error(let error): "\(error)"
    }
}

private func shown(_ value: Any?) -> String {
    guard let value else { return "nil" }
    if let object = value as? ObjectBase {
        return object.isInvalidated
            ? "invalidated" : (object as? Dog)?.name ?? (object as? Person)?.firstName ?? "object"
    }
    return "\(value)"
}

extension TestRealm {
    /// Runs the scheduler until no delivery is pending.
    func deliverAll(_ location: SourceLocation = #_sourceLocation) {
        while !realm.context.hub.isIdle {
            guard scheduler.waitForWork() else {
                Issue.record("no delivery was scheduled", sourceLocation: location)
                return
            }
            scheduler.run()
        }
    }

    /// Adds dogs with these names.
    @discardableResult
    func dogs(_ names: String...) throws -> [Dog] {
        let dogs = names.map { Dog(name: $0) }
        try realm.write { realm.add(dogs) }
        return dogs
    }

    var allDogs: Results<Dog> { realm.objects(Dog.self) }
}

extension Realm {
    func dog(_ name: String) throws -> Dog { try #require(objects(Dog.self).first { $0.name == name }) }
}
