import MartletSchema

/// Writes the class of one object type: storage, accessors, initializer, and the functions that the runtime calls.
struct ObjectEmitter {
    let context: EmitterContext
    let object: ObjectModel
    private let codes: [PropertyCode]

    init(context: EmitterContext, object: ObjectModel) {
        self.context = context
        self.object = object
        let ignored = object.ignored.map(\.name)
        let names = SwiftNames.storageNames(for: object.properties.map(\.name), besides: ignored)
        codes = zip(object.properties, names).enumerated().map { index, pair in
            PropertyCode(property: pair.0, position: index, storage: pair.1)
        }
    }

    func emit(into writer: inout SourceWriter) {
        let accessors = AccessorEmitter(context: context)
        let base = object.isEmbedded ? "Martlet.EmbeddedObject" : "Martlet.Object"
        writer.typeHeading(object.documentation, deprecation: object.deprecation)
        let name = SwiftNames.escaped(object.name)
        writer.block("nonisolated \(context.access.modifier)final class \(name): \(base)") { writer in
            for code in codes { accessors.emitStorage(code, into: &writer) }
            for code in codes {
                writer.line()
                accessors.emitAccessor(code, into: &writer)
            }
            for property in object.ignored {
                writer.line()
                accessors.emitIgnored(property, into: &writer)
            }
            emitInitializer(into: &writer)
            emitDefaults(into: &writer)
            RowEmitter(context: context, codes: codes).emit(into: &writer)
            if !object.ignored.isEmpty {
                writer.line()
                let head = context.access.hiddenOverride
                writer.line("\(head)class var _hasIgnoredProperties: Swift.Bool { true }")
            }
            writer.line()
            SchemaFactsEmitter(context: context).emit(SchemaFactsEmitter.lines(for: object), into: &writer)
        }
    }

    /// Writes the memberwise initializer with all stored properties in the order of the schema.
    private func emitInitializer(into writer: inout SourceWriter) {
        let stored = codes.filter { !$0.type.isLinkingObjects }
        guard !stored.isEmpty else { return }
        let parameters = stored.map { code in
            let value = SwiftValues.defaultExpression(of: code.property, in: context.schema)
            return "\(code.name): \(context.types.parameter(code.type)) = \(value)"
        }
        writer.line()
        writer.wrapped("\(context.access.modifier)convenience init(", parameters, ") {")
        writer.indented { writer in
            writer.line("self.init()")
            for code in stored { writer.line(assignment(of: code)) }
        }
        writer.line("}")
    }

    private func assignment(of code: PropertyCode) -> String {
        let name = code.name
        switch code.type.kind {
        case .single: return "\(code.storage) = \(SwiftTypes.stored(name, as: code.type))"
        case .list: return "if !\(name).isEmpty { \(code.collectionCall).append(objectsIn: \(name)) }"
        case .set: return "if !\(name).isEmpty { \(code.collectionCall).insert(objectsIn: \(name)) }"
        case .map: return "if !\(name).isEmpty { \(code.collectionCall).merge(\(name)) }"
        case .linkingObjects: return ""
        }
    }

    /// Writes the method that assigns the defaults. It omits each default that equals the initial value of the stored
    /// property.
    private func emitDefaults(into writer: inout SourceWriter) {
        let assignments = codes.compactMap { code -> String? in
            guard code.type.isSingle, code.property.defaultValue != nil else { return nil }
            let value = SwiftValues.defaultExpression(of: code.property, in: context.schema)
            guard value != SwiftValues.storageInitialValue(of: code.type, in: context.schema) else { return nil }
            return "\(code.storage) = \(SwiftTypes.stored(value, as: code.type))"
        }
        guard !assignments.isEmpty else { return }
        writer.line()
        writer.block("\(context.access.hiddenOverride)func _applyDefaults()") { writer in
            for assignment in assignments { writer.line(assignment) }
        }
    }
}
