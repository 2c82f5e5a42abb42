import MartletSchema

/// Infers the types of properties without a type annotation.
struct TypeInference {
    let index: TypeIndex
    private static let numbers: Set<String> = [
        "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "Float", "Double",
    ]

    /// Returns the inferred type; nil if it is unknown.
    func type(of value: ValueExpression, from scope: [String]) -> TypeExpression? {
        switch value.form {
        case .bool: .name("Bool")
        case .integer: .name("Int")
        case .floating: .name("Double")
        case .string: .name("String")
        case .cast(_, let type): type
        case .call(let path, let generics, let arguments):
            type(ofCall: path, generics, arguments).map { isFailable(arguments, value) ? .optional($0) : $0 }
        case .member(let path): type(ofMember: path, from: scope)
        case .null, .array, .dictionary, .utf8, .other: nil
        }
    }

    /// Returns whether the call is a failable initializer without `!`, such as `UUID(uuidString: "…")`.
    private func isFailable(_ arguments: [ValueExpression.Argument], _ value: ValueExpression) -> Bool {
        let labels: Set<String?> = ["uuidString", "base64Encoded", "rawValue"]
        return !value.isForced && arguments.first.map { labels.contains($0.label) } == true
    }

    private func type(
        ofCall path: [String], _ generics: [TypeExpression], _ arguments: [ValueExpression.Argument]
    ) -> TypeExpression? {
        let factories: Set<String> = ["init", "generate"]
        let names = path.last.map(factories.contains) == true ? Array(path.dropLast()) : path
        guard let head = names.first, head.first?.isUppercase == true, !names.contains("()") else { return nil }
        if head == "LinkingObjects", generics.isEmpty {
            return fromType(of: arguments).map { .generic(head, [.name($0)]) }
        }
        if names.count > 1, names.last?.first?.isUppercase != true { return nil }
        // 'Int("5")' is a failable initializer. Its type is not inferred.
        if names.count == 1, Self.numbers.contains(head), arguments.first?.value.string != nil { return nil }
        return TypeExpression(name: names.joined(separator: "."), generics)
    }

    /// Returns `Dog` for `fromType: Dog.self`.
    private func fromType(of arguments: [ValueExpression.Argument]) -> String? {
        guard case .member(let path)? = arguments.first(where: { $0.label == "fromType" })?.value.form,
            path.last == "self"
        else { return nil }
        return path.dropLast().joined(separator: ".")
    }

    private func type(ofMember path: [String], from scope: [String]) -> TypeExpression? {
        switch path.last {
        case "uuidString", "stringValue": return path.contains("()") ? .name("String") : nil
        case "timeIntervalSince1970", "timeIntervalSinceReferenceDate": return .name("Double")
        case "rawValue":
            guard path.count > 2, let key = enumeration(Array(path.dropLast(2)), from: scope) else { return nil }
            return index.entries[key]?.declaration.inherited.first?.value
        default: break
        }
        let names = Array(path.dropLast())
        guard let head = names.first, !names.contains("()") else { return nil }
        if names.count == 1, PropertyTypeDraft.scalars.contains(head) { return .name(head) }
        return enumeration(names, from: scope).map { _ in .name(names.joined(separator: ".")) }
    }

    /// Returns the key of the enum that the components of a name mean; nil if they mean no enum.
    func enumeration(_ names: [String], from scope: [String]) -> String? {
        let (type, scope) = index.expand(.name(names.joined(separator: ".")), from: scope)
        guard case .name(let name) = type, let key = index.find(name, scope),
            index.entries[key]?.declaration.kind == .enumeration
        else { return nil }
        return key
    }
}
