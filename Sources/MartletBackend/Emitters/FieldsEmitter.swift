import MartletSchema

/// Writes the typed key-path descriptors of one object type.
struct FieldsEmitter {
    let context: EmitterContext
    let object: ObjectModel

    private var name: String { SwiftNames.escaped(object.name) }

    func emit(into writer: inout SourceWriter) {
        let access = context.access.modifier
        writer.block("extension \(name): Martlet.ModelObject") { writer in
            writer.block("nonisolated \(access)struct Fields<Root: Martlet.ObjectBase>: Martlet.ObjectFields") {
                writer in
                writer.line("\(access)typealias Model = \(name)")
                writer.line("\(access)let _path: Martlet.FieldPath")
                writer.line("\(access)init(_ path: Martlet.FieldPath) { _path = path }")
                for property in object.properties { emitField(property, into: &writer) }
            }
            writer.line()
            writer.line(
                "nonisolated \(access)static var fields: Fields<\(name)> { .init(Martlet.FieldPath(\(name).self)) }")
            guard !object.keyPaths.isEmpty else { return }
            writer.line()
            writer.block("nonisolated \(access)enum KeyPaths") { writer in
                for entry in object.keyPaths { emitKeyPath(entry, into: &writer) }
            }
        }
    }

    private func emitField(_ property: PropertyModel, into writer: inout SourceWriter) {
        writer.heading(nil, deprecation: property.deprecation)
        let field = FieldType(property.type, root: "Root")
        writer.line(
            "\(context.access.modifier)var \(SwiftNames.escaped(property.name)): \(field.name) "
                + "{ .init\(field.arguments(path: "_path", property: property.name)) }")
    }

    private func emitKeyPath(_ entry: DeclaredKeyPathModel, into writer: inout SourceWriter) {
        writer.heading(entry.documentation)
        let expressions = entry.paths.map { KeyPathExpression(context: context, root: name).text(of: $0) }
        let head = "\(context.access.modifier)static var \(SwiftNames.escaped(entry.name)): "
        if entry.isList {
            writer.block("\(head)[any Martlet.KeyPathDescriptor<\(name)>]") { writer in
                writer.wrapped("[", expressions, "]")
            }
        } else if let path = entry.paths.first {
            writer.line("\(head)\(FieldType(path.type, root: name).name) { \(expressions.joined()) }")
        }
    }
}

/// The type of the descriptor of one property, and how it is made.
struct FieldType {
    let name: String
    private let isLink: Bool

    init(_ type: PropertyTypeModel, root: String) {
        let target = type.value.objectName.map { "\(SwiftNames.escaped($0)).Fields<\(root)>" }
        isLink = target != nil && type.isSingle
        switch (type.kind, target) {
        case (.single, let target?): name = target
        case (.single, nil): name = "Martlet.Field<\(root), \(SwiftTypes.element(of: type))>"
        case (.map, let target?): name = "Martlet.ObjectMapField<\(target)>"
        case (.map, nil): name = "Martlet.MapField<\(root), \(SwiftTypes.element(of: type))>"
        case (_, let target?): name = "Martlet.ObjectCollectionField<\(target)>"
        case (_, nil): name = "Martlet.CollectionField<\(root), \(SwiftTypes.element(of: type))>"
        }
    }

    /// The arguments of the initialiser, given the expression of the path that the property stands behind.
    func arguments(path: String, property: String) -> String {
        let literal = SwiftLiteral.string(property)
        return isLink ? "(\(path).link(\(literal)))" : "(\(path), \(literal))"
    }
}

/// A declared key path as an expression of descriptors.
struct KeyPathExpression {
    let context: EmitterContext
    /// The escaped name of the type it starts at.
    let root: String

    func text(of path: KeyPathModel) -> String {
        var text = "\(root).fields"
        for segment in path.segments { text = appending(segment, to: text) }
        return text
    }

    private func appending(_ segment: KeyPathSegmentModel, to prefix: String) -> String {
        let property = context.schema.object(named: segment.owner)?.property(named: segment.property)
        if property?.deprecation != nil {
            // Not by its name: that would warn here, where nobody can mend it.
            let field = FieldType(segment.type, root: root)
            return field.name + field.arguments(path: "\(prefix)._path", property: segment.property)
        }
        return "\(prefix).\(SwiftNames.escaped(segment.property))"
    }
}
