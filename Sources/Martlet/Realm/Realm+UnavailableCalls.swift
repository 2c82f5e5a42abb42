import MartletEngine

// Unavailable functions. Each function accepts the arguments of a common mistake. For this mistake, the compiler then
// reports the message of the function, which says what to do. Without the function, the compiler would report an error
// about another overload. Tests/Mistakes contains these mistakes.

extension RealmCollection where Element: ModelObject {
    /// Unavailable: links and collections have no order.
    @available(*, unavailable, message: "links and collections have no order; sort by a field with a value")
    public func sorted<F: KeyPathDescriptor>(
        by field: (Element.RootFields) -> F, ascending: Bool = true
    ) -> Results<Element> { requireMembers() }

    /// Unavailable: links and collections have no order.
    @available(*, unavailable, message: "links and collections have no order; name a field with a value")
    public func min<F: KeyPathDescriptor>(of field: (Element.RootFields) -> F) -> Int? { nil }

    /// Unavailable: links and collections have no order.
    @available(*, unavailable, message: "links and collections have no order; name a field with a value")
    public func max<F: KeyPathDescriptor>(of field: (Element.RootFields) -> F) -> Int? { nil }
}

extension Realm {
    /// Unavailable: embedded objects are reached through the objects that contain them.
    @available(
        *, unavailable,
        message: "a Realm has no collection of embedded objects; query the objects that contain them"
    )
    public func objects<Element: EmbeddedObject>(_ type: Element.Type) -> Results<Element> {
        let table = context.table(type)
        return Results(ResultsStorage(context, table, QueryPlan(table: table.id)))
    }

    /// Unavailable: an embedded object belongs to a property of another object.
    @available(*, unavailable, message: "an embedded object is not added by itself; assign it to a property")
    public func add(_ object: EmbeddedObject, update: UpdatePolicy = .error) {}

    /// Unavailable: an embedded object belongs to a property of another object.
    @available(
        *, unavailable,
        message: "an embedded object is not created by itself; assign it to a property of another object"
    )
    public func create<Element: EmbeddedObject>(
        _ type: Element.Type, value: Any = [String: Any](), update: UpdatePolicy = .error
    ) -> Element { Element() }
}
