public import Martlet
import MartletEngine
import MartletSyncProtocol

/// A query to add to the subscriptions of a Realm.
///
/// ```swift
/// try subscriptions.update {
///     subscriptions.append(QuerySubscription<Dog>(name: "puppies") { $0.age < 1 })
/// }
/// ```
public struct QuerySubscription<Element: Object> {
    /// The name of the subscription; nil for a subscription without a name.
    public let name: String?

    /// Returns the results of the query in a Realm.
    let results: (Realm) throws -> Results<Element>

    /// A subscription to all objects of a type.
    public init(name: String? = nil) {
        self.name = name
        results = { $0.objects(Element.self) }
    }

    /// A subscription to the objects that satisfy a condition.
    public init<Condition: QueryConvertible<Element>>(
        name: String? = nil, where condition: @escaping (Element.RootFields) -> Condition
    ) where Element: ModelObject {
        self.name = name
        results = { $0.objects(Element.self).where(condition) }
    }

    /// A subscription to the objects that satisfy a condition written as text, as in `Results.filter`.
    public init(name: String? = nil, where text: String, _ arguments: Any?...) {
        self.name = name
        results = { try $0.objects(Element.self).filter(Realm.Predicate(parsing: text, arguments: arguments)) }
    }
}

/// The query of a subscription, as the file stores it and as the service receives it.
struct SubscribedCondition: Equatable {
    /// The name of the type.
    let type: String
    /// The canonical encoding of the condition.
    let condition: [UInt8]

    /// - Throws: `Realm.Error.subscriptionRefused` for a query that cannot be subscribed to. The message names the
    ///   unsupported part of the query.
    init<Element>(_ results: Results<Element>, _ realm: Realm, _ schema: SyncSchema) throws {
        let (type, plan) = results.definition
        guard let number = schema.number(of: type), let declared = schema[number], !declared.isEmbedded else {
            throw Self.refusal("'\(type)' is not synchronized; add 'sync: both' to it in the YAML")
        }
        guard declared.syncMode == .both else {
            throw Self.refusal("'\(type)' has 'sync: upload': its objects are sent to the service and never received")
        }
        do {
            let builder = ConditionBuilder(type: number, schema: schema.agreed) { type, key in
                try realm.primaryKey(of: key, type: type)
            }
            self.type = type
            condition = try builder.condition(plan).encoded()
        } catch let unsupported as UnsupportedQuery {
            throw Self.refusal("the query of '\(type)' cannot be subscribed to: \(unsupported.description)")
        }
    }

    private static func refusal(_ message: String) -> Realm.Error {
        Realm.Error(synchronization: .subscriptionRefused, message: message)
    }
}
