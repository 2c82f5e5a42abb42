import MartletSchema

/// Writes the typed key-path descriptors of one object type.
struct FieldsEmitter {
    let context: EmitterContext
    let object: ObjectModel

    private var name: String { context.types.declared(object.name) }

    func emit(into writer: inout SourceWriter) {
        let access = context.access.modifier
        let key = object.primaryKey.flatMap { object.property(named: $0.value) }
        writer.block("extension \(name): Martlet.\(key == nil ? "ModelObject" : "KeyedObject")") { writer in
            if let key {
                writer.line("\(access)typealias _PrimaryKey = \(context.types.element(of: key.type))")
                writer.line()
            }
            writer.block("nonisolated \(access)struct Fields<Root: Martlet.ObjectBase>: Martlet.ObjectFields") {
                writer in
                writer.line("\(access)typealias Model = \(name)")
                writer.line("\(access)let _path: Martlet.FieldPath")
                writer.line("\(access)init(_ path: Martlet.FieldPath) { _path = path }")
                for property in object.properties { emitField(property, into: &writer) }
            }
            writer.line()
            writer.line(
                "nonisolated \(access)static var fields: Fields<\(name)> { .init(Martlet.FieldPath(self)) }")
            guard !object.keyPaths.isEmpty else { return }
            writer.line()
            writer.block("nonisolated \(access)enum KeyPaths") { writer in
                let paths = object.keyPaths.flatMap(\.paths)
                // Without these aliases, a key path or property with the name of a type would shadow the type.
                for type in KeyPathExpression.aliasedTypes(for: paths, root: object.name, in: context) {
                    writer.line("private typealias \(SwiftNames.alias(of: type)) = \(context.types.declared(type))")
                }
                for entry in object.keyPaths { emitKeyPath(entry, into: &writer) }
            }
        }
    }

    private func emitField(_ property: PropertyModel, into writer: inout SourceWriter) {
        writer.heading(nil, deprecation: property.deprecation)
        let field = FieldType(property.type, root: "Root", types: context.types)
        writer.line(
            "\(context.access.modifier)var \(SwiftNames.escaped(property.name)): \(field.name) "
                + "{ .init\(field.arguments(path: "_path", property: property.name)) }")
    }

    private func emitKeyPath(_ entry: DeclaredKeyPathModel, into writer: inout SourceWriter) {
        writer.heading(entry.documentation)
        let expressions = entry.paths.map { KeyPathExpression(context: context, root: object.name).text(of: $0) }
        let head = "\(context.access.modifier)static var \(SwiftNames.escaped(entry.name)): "
        if entry.isList {
            writer.block("\(head)[any Martlet.KeyPathDescriptor<\(name)>]") { writer in
                writer.wrapped("[", expressions, "]")
            }
        } else if let path = entry.paths.first {
            let field = FieldType(path.type, root: name, types: context.types)
            writer.line("\(head)\(field.name) { \(expressions.joined()) }")
        }
    }
}

/// The type of a property's descriptor, and the arguments of its initializer.
struct FieldType {
    let name: String
    private let isLink: Bool

    init(_ type: PropertyTypeModel, root: String, types: SwiftTypes) {
        let target = type.value.objectName.map { "\(types.declared($0)).Fields<\(root)>" }
        isLink = target != nil && type.isSingle
        switch (type.kind, target) {
        case (.single, let target?): name = target
        case (.single, nil): name = "Martlet.Field<\(root), \(types.element(of: type))>"
        case (.map, let target?): name = "Martlet.ObjectMapField<\(target)>"
        case (.map, nil): name = "Martlet.MapField<\(root), \(types.element(of: type))>"
        case (_, let target?): name = "Martlet.ObjectCollectionField<\(target)>"
        case (_, nil): name = "Martlet.CollectionField<\(root), \(types.element(of: type))>"
        }
    }

    /// The arguments of the descriptor's initializer.
    ///
    /// - Parameter path: the Swift expression for the key path of the object that has the property.
    func arguments(path: String, property: String) -> String {
        let literal = SwiftLiteral.string(property)
        return isLink ? "(\(path).link(\(literal)))" : "(\(path), \(literal))"
    }
}

/// Writes a key path of the schema as the Swift expression that evaluates to its descriptor.
struct KeyPathExpression {
    let context: EmitterContext
    /// The name of the root type.
    let root: String

    func text(of path: KeyPathModel) -> String {
        var text = "\(SwiftNames.alias(of: root)).fields"
        for index in path.segments.indices { text = appending(index, of: path.segments, to: text) }
        return text
    }

    /// The types that the expressions for these paths refer to by name. Generated code declares an alias for each type.
    static func aliasedTypes(for paths: [KeyPathModel], root: String, in context: EmitterContext) -> [String] {
        let expression = KeyPathExpression(context: context, root: root)
        var names = paths.isEmpty ? [] : [root]
        for path in paths {
            for (index, segment) in path.segments.enumerated()
            where segment.type.isSingle && expression.isCreatedFromPath(index, of: path.segments) {
                if let target = segment.type.value.objectName, !names.contains(target) { names.append(target) }
            }
        }
        return names
    }

    private func appending(_ index: Int, of segments: [KeyPathSegmentModel], to prefix: String) -> String {
        let segment = segments[index]
        guard isCreatedFromPath(index, of: segments) else { return "\(prefix).\(SwiftNames.escaped(segment.property))" }
        let start = context.types.declared(root)
        let field = FieldType(segment.type, root: start, types: context.types)
        let arguments = field.arguments(path: "\(prefix)._path", property: segment.property)
        guard segment.type.isSingle, let target = segment.type.value.objectName else { return field.name + arguments }
        return "\(SwiftNames.alias(of: target)).Fields<\(start)>\(arguments)"
    }

    /// Whether the expression creates the field from its path instead of accessing the field by name. This is true for
    /// a deprecated property, because an access by name would cause a warning in generated code. It is also true for a
    /// field directly after a collection, if the collection's field has a member with the same name, such as `count`.
    private func isCreatedFromPath(_ index: Int, of segments: [KeyPathSegmentModel]) -> Bool {
        let segment = segments[index]
        let property = context.schema.object(named: segment.owner)?.property(named: segment.property)
        if property?.deprecation != nil { return true }
        guard index > 0, !segments[index - 1].type.isSingle else { return false }
        return Self.collectionMembers.contains(segment.property)
    }

    /// The names of the members that the fields of collections declare themselves. All other members are fields of the
    /// elements.
    private static let collectionMembers: Set<String> = ["contains", "containsAny", "count", "keyPath"]
}
