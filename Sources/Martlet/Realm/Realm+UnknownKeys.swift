import MartletEngine

extension Realm {
    /// What `create` does with dictionary keys that are not property names.
    public enum UnknownKeys: Sendable {
        /// Ignore them, because external data often contains more than a program stores.
        case ignore
        /// Throw an error and create nothing.
        case refuse
    }

    /// Creates an object as `create(_:value:update:)` does, and ignores or refuses keys that are not property names.
    ///
    /// ```swift
    /// try realm.write {
    ///     _ = try realm.create(Dog.self, value: ["name": "Rex"], unknownKeys: .refuse)
    /// }
    /// ```
    ///
    /// - Throws: `Realm.Error.invalidInput` with the path of each unknown key, as in `Dog.owner.fristName`. In this
    ///   case nothing is created.
    @discardableResult
    public func create<Element: Object>(
        _ type: Element.Type, value: Any, update: UpdatePolicy = .error, unknownKeys: UnknownKeys
    ) throws -> Element {
        if unknownKeys == .refuse { try UnknownKeySearch.check(value, ModelClass.of(type), context) }
        return create(type, value: value, update: update)
    }
}

/// Searches untyped values for keys that are not property names, before an object is created.
private struct UnknownKeySearch {
    let context: RealmContext
    private var found: [String] = []

    static func check(_ value: Any, _ model: ModelClass, _ context: RealmContext) throws {
        var search = UnknownKeySearch(context: context)
        search.search(in: value, model.schema, .root(model.schema.name))
        guard !search.found.isEmpty else { return }
        throw Realm.Error(
            .invalidInput,
            "the values have keys that name no property: \(search.found.joined(separator: ", ")). "
                + "Leave them out, or pass 'unknownKeys: .ignore'")
    }

    private mutating func search(in value: Any?, _ type: ObjectTypeSchema, _ path: UntypedPath) {
        switch UntypedValue.unwrapped(value) {
        case let values as [String: Any]:
            for key in values.keys.sorted() {
                let place = UntypedPath.property(of: path, key)
                guard let property = type[key] else {
                    let known = type.properties.filter { $0.isColumn || $0.isCollection }.map { "'\($0.name)'" }
                    found.append("'\(place.text)' ('\(type.name)' has \(known.joined(separator: ", ")))")
                    continue
                }
                search(in: values[key], property, place)
            }
        case let values as [Any]:
            for (property, value) in zip(type.properties.filter({ $0.isColumn || $0.isCollection }), values) {
                search(in: value, property, .property(of: path, property.name))
            }
        default: break
        }
    }

    private mutating func search(in value: Any?, _ property: PropertySchema, _ path: UntypedPath) {
        guard let type = property.element.target.flatMap({ context.table(named: $0) })?.type else { return }
        guard property.isCollection else { return search(in: value, type, path) }
        switch UntypedValue.unwrapped(value) {
        case let values as [String: Any]:
            for key in values.keys.sorted() { search(in: values[key], type, .key(of: path, key)) }
        case let values as [Any]:
            for (position, value) in values.enumerated() { search(in: value, type, .index(of: path, position)) }
        default: break
        }
    }

    private init(context: RealmContext) { self.context = context }
}
