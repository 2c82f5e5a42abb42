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

/// Searches untyped values for keys that are not property names, before an object is created. The search uses a stack
/// instead of recursion, because a chain of objects may be too long for the call stack.
private struct UnknownKeySearch {
    private enum Item {
        case object(Any?, ObjectTypeSchema, UntypedPath)
        case property(Any?, PropertySchema, UntypedPath)
        case unknown(ObjectTypeSchema, UntypedPath)
    }

    let context: RealmContext
    private var found: [String] = []

    private init(context: RealmContext) { self.context = context }

    static func check(_ value: Any, _ model: ModelClass, _ context: RealmContext) throws {
        var search = UnknownKeySearch(context: context)
        search.search(.object(value, model.schema, .root(model.schema.name)))
        guard !search.found.isEmpty else { return }
        throw Realm.Error(
            .invalidInput,
            "the values have keys that are not property names: \(search.found.joined(separator: ", ")). "
                + "Leave them out, or pass 'unknownKeys: .ignore'")
    }

    private mutating func search(_ root: Item) {
        var items = [root]
        while let item = items.popLast() {
            switch item {
            case .object(let value, let type, let path): items += parts(of: value, type, path).reversed()
            case .property(let value, let property, let path): items += parts(of: value, property, path).reversed()
            case .unknown(let type, let path):
                let known = type.properties.filter { $0.isColumn || $0.isCollection }.map { "'\($0.name)'" }
                found.append("'\(path.text)' ('\(type.name)' has \(known.joined(separator: ", ")))")
            }
        }
    }

    private func parts(of value: Any?, _ type: ObjectTypeSchema, _ path: UntypedPath) -> [Item] {
        switch UntypedValue.unwrapped(value) {
        case let values as [String: Any]:
            values.keys.sorted().map { key in
                let place = UntypedPath.property(of: path, key)
                return type[key].map { .property(values[key], $0, place) } ?? .unknown(type, place)
            }
        case let values as [Any]:
            zip(type.properties.filter { $0.isColumn || $0.isCollection }, values).map { property, value in
                .property(value, property, .property(of: path, property.name))
            }
        default: []
        }
    }

    private func parts(of value: Any?, _ property: PropertySchema, _ path: UntypedPath) -> [Item] {
        guard let type = property.element.target.flatMap({ context.table(named: $0) })?.type else { return [] }
        guard property.isCollection else { return [.object(value, type, path)] }
        return switch UntypedValue.unwrapped(value) {
        case let values as [String: Any]: values.keys.sorted().map { .object(values[$0], type, .key(of: path, $0)) }
        case let values as [Any]: values.enumerated().map { .object($1, type, .index(of: path, $0)) }
        default: []
        }
    }
}
