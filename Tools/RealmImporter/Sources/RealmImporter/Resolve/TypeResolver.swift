import MartletSchema

/// The result of resolving a type: a type of the schema, or a text that says why a schema does not support the type.
enum TypeResolution {
    case type(PropertyTypeDraft)
    case failure(String)
}

/// Resolves types of properties to types of a schema.
struct TypeResolver {
    let index: TypeIndex

    /// - Parameter originProperty: for linking objects, the name of the link property; nil if it is unknown.
    func resolve(
        _ written: TypeExpression, from outer: [String], originProperty: String? = nil
    ) -> TypeResolution {
        let (type, scope) = index.expand(written, from: outer)
        switch type {
        case .optional(let inner):
            guard case .type(var draft) = resolve(inner, from: scope, originProperty: originProperty) else {
                return resolve(inner, from: scope, originProperty: originProperty)
            }
            draft.isOptional = draft.shape == .single && draft.scalar != "AnyRealmValue"
            return .type(draft)
        case .name(let name): return resolve(named: name, from: scope)
        case .generic(let name, let arguments):
            return resolve(name.withoutModule, arguments, from: scope, originProperty)
        case .array(let element):
            guard case .type = resolve(element, from: scope) else { return resolve(element, from: scope) }
            return .failure("a schema has no arrays; write 'List<\(element.text)>' in the schema")
        case .composition, .other:
            return .failure("a schema has no type '\(type.text)'; keep it outside the object")
        }
    }

    private func resolve(named name: String, from scope: [String]) -> TypeResolution {
        if let key = index.find(name, scope) { return resolve(declared: key) }
        let plain = name.withoutModule
        if PropertyTypeDraft.scalars.contains(plain) { return .type(PropertyTypeDraft(.single, .scalar(plain))) }
        if let synonym = PropertyTypeDraft.synonyms[plain] {
            return .type(PropertyTypeDraft(.single, .scalar(synonym)))
        }
        if let nearest = PropertyTypeDraft.nearest[plain] {
            return .failure(
                "a schema has no type '\(plain)'; write '\(nearest)' in the schema and convert in an extension")
        }
        return .failure(
            "the type '\(name)' is in none of these files; add the file that declares it, or store its parts")
    }

    /// Returns whether a type that cannot be resolved is neither declared in a file nor known to the importer.
    func isUnknown(_ written: TypeExpression, from outer: [String]) -> Bool {
        let (type, scope) = index.expand(written, from: outer)
        switch type {
        case .optional(let inner): return isUnknown(inner, from: scope)
        case .name(let name):
            return index.find(name, scope) == nil && PropertyTypeDraft.nearest[name.withoutModule] == nil
        default: return false
        }
    }

    private func resolve(declared key: String) -> TypeResolution {
        switch index.role(of: key) {
        case .object, .embedded:
            if index.entries[key]?.declaration.isGeneric == true {
                return .failure("the class '\(key)' is generic; write a class for each of its types")
            }
            return .type(PropertyTypeDraft(.single, .type(key)))
        case .enumeration: return .type(PropertyTypeDraft(.single, .type(key)))
        case .custom(let persisted):
            let nearest = persisted.map { "write '\($0)' in the schema and convert in an extension" }
            return .failure(
                "'\(key)' is a CustomPersistable, which a schema does not support; "
                    + (nearest ?? "write the type it is stored as, and convert in an extension"))
        case .asymmetric:
            return .failure("'\(key)' is an AsymmetricObject, which a schema does not support; make it an Object")
        case .projection: return .failure("'\(key)' is a projection, and no property can hold one")
        case .other:
            let isEnum = index.entries[key]?.declaration.kind == .enumeration
            return .failure(
                isEnum
                    ? "'\(key)' is not a PersistableEnum; make it one, and import again"
                    : "'\(key)' is not a Realm object; store its parts, or make it an EmbeddedObject")
        }
    }

    private func resolve(
        _ container: String, _ arguments: [TypeExpression], from scope: [String], _ originProperty: String?
    ) -> TypeResolution {
        let shape: PropertyTypeDraft.Shape
        switch (container, arguments.count) {
        case ("List", 1): shape = .list
        case ("MutableSet", 1): shape = .set
        case ("Map", 2):
            guard case .type(let key) = resolve(arguments[0], from: scope), key.scalar == "String" else {
                return .failure("the keys of a map are 'String'; store '\(arguments[0].text)' as text")
            }
            shape = .map
        case ("RealmOptional", 1): return resolve(.optional(arguments[0]), from: scope)
        case ("RealmProperty", 1): return resolve(arguments[0], from: scope)
        case ("LinkingObjects", 1):
            guard let originProperty else {
                return .failure("its link is unknown; write 'LinkingObjects<Type.property>'")
            }
            shape = .linkingObjects(property: originProperty)
        default:
            let text = TypeExpression.generic(container, arguments).text
            return .failure("a schema has no type '\(text)'; keep it outside the object")
        }
        guard let element = arguments.last, case .type(let inner) = resolve(element, from: scope) else {
            return arguments.last.map { resolve($0, from: scope) } ?? .failure("its type is incomplete; complete it")
        }
        guard inner.shape == .single else {
            return .failure("a collection cannot hold collections; put an embedded object between")
        }
        return .type(PropertyTypeDraft(shape, inner.value, isOptional: optionality(of: inner, in: shape)))
    }

    /// Returns whether the elements are optional. Objects in lists and sets are never nil. Objects in maps can be nil.
    private func optionality(of element: PropertyTypeDraft, in shape: PropertyTypeDraft.Shape) -> Bool {
        guard let key = element.typeKey, index.role(of: key) != .enumeration else { return element.isOptional }
        return shape == .map
    }
}
