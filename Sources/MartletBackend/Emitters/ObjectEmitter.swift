import MartletSchema

/// Writes the class of one object type: storage, accessors, initializer, and the functions that the runtime calls.
struct ObjectEmitter {
    let context: EmitterContext
    let object: ObjectModel
    private let layouts: [PropertyLayout]

    init(context: EmitterContext, object: ObjectModel) {
        self.context = context
        self.object = object
        let ignored = object.ignored.map(\.name)
        let names = SwiftNames.storageNames(for: object.properties.map(\.name), besides: ignored)
        layouts = zip(object.properties, names).enumerated().map { index, pair in
            PropertyLayout(property: pair.0, position: index, storage: pair.1)
        }
    }

    func emit(into writer: inout SourceWriter) {
        let accessors = AccessorEmitter(context: context)
        let base = object.isEmbedded ? "Martlet.EmbeddedObject" : "Martlet.Object"
        writer.typeHeading(object.documentation, deprecation: object.deprecation)
        let name = SwiftNames.escaped(object.name)
        writer.block("nonisolated \(context.access.modifier)final class \(name): \(base)") { writer in
            for layout in layouts { accessors.emitStorage(layout, into: &writer) }
            for layout in layouts {
                writer.line()
                accessors.emitAccessor(layout, into: &writer)
            }
            for property in object.ignored {
                writer.line()
                accessors.emitIgnored(property, into: &writer)
            }
            emitInitializer(into: &writer)
            emitDefaults(into: &writer)
            RowEmitter(context: context, layouts: layouts).emit(into: &writer)
            writer.line()
            FactsEmitter(context: context).emit(FactsEmitter.lines(for: object), into: &writer)
        }
    }

    /// Writes the memberwise initializer with all stored properties in the order of the schema.
    private func emitInitializer(into writer: inout SourceWriter) {
        let stored = layouts.filter { !$0.type.isLinkingObjects }
        guard !stored.isEmpty else { return }
        let parameters = stored.map { layout in
            let value = SwiftValues.initial(of: layout.property, in: context.schema)
            return "\(layout.name): \(context.types.parameter(layout.type)) = \(value)"
        }
        writer.line()
        writer.wrapped("\(context.access.modifier)convenience init(", parameters, ") {")
        writer.indented { writer in
            writer.line("self.init()")
            for layout in stored { writer.line(assignment(of: layout)) }
        }
        writer.line("}")
    }

    private func assignment(of layout: PropertyLayout) -> String {
        let name = layout.name
        switch layout.type.kind {
        case .single: return "\(layout.storage) = \(SwiftTypes.stored(name, as: layout.type))"
        case .list: return "if !\(name).isEmpty { \(layout.collectionCall).append(objectsIn: \(name)) }"
        case .set: return "if !\(name).isEmpty { \(layout.collectionCall).insert(objectsIn: \(name)) }"
        case .map: return "if !\(name).isEmpty { \(layout.collectionCall).merge(\(name)) }"
        case .linkingObjects: return ""
        }
    }

    /// Writes the defaults that differ from the initial values of the stored properties.
    private func emitDefaults(into writer: inout SourceWriter) {
        let assignments = layouts.compactMap { layout -> String? in
            guard layout.type.isSingle, layout.property.defaultValue != nil else { return nil }
            let value = SwiftValues.initial(of: layout.property, in: context.schema)
            guard value != SwiftValues.start(of: layout.type, in: context.schema) else { return nil }
            return "\(layout.storage) = \(SwiftTypes.stored(value, as: layout.type))"
        }
        guard !assignments.isEmpty else { return }
        writer.line()
        writer.block("\(context.access.hiddenOverride)func _applyDefaults()") { writer in
            for assignment in assignments { writer.line(assignment) }
        }
    }
}
