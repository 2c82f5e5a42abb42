import MartletSchema

/// One property of an object, with the names and expressions that generated code uses for it.
struct PropertyLayout {
    let property: PropertyModel
    /// The position in the type's schema description, from 0.
    let position: Int
    /// The name of the private stored property.
    let storage: String

    var name: String { SwiftNames.escaped(property.name) }
    var type: PropertyTypeModel { property.type }

    /// The expression for the collection of a list, set or map: `_list(6, &_siblings)`.
    var collectionCall: String {
        let function =
            switch type.kind {
            case .set: "_mutableSet"
            case .map: "_map"
            default: "_list"
            }
        return "\(function)(\(position), &\(storage))"
    }
}

/// Writes the private stored properties and their accessors.
struct AccessorEmitter {
    let context: EmitterContext

    func emitStorage(_ layout: PropertyLayout, into writer: inout SourceWriter) {
        guard !layout.type.isLinkingObjects else { return }
        let start = SwiftValues.start(of: layout.type, in: context.schema)
        writer.line(
            "@exclusivity(unchecked) private final var \(layout.storage): \(context.types.storage(layout.type)) = \(start)"
        )
    }

    func emitAccessor(_ layout: PropertyLayout, into writer: inout SourceWriter) {
        let property = layout.property
        writer.heading(property.documentation, deprecation: property.deprecation)
        let head = "\(context.access.modifier)var \(layout.name): \(context.types.property(layout.type))"
        if layout.type.isLinkingObjects {
            writer.line("\(head) { _load(\(layout.position)); return _linkingObjects(\(layout.position)) }")
            return
        }
        writer.block(head) { writer in
            writer.line("get { _load(\(layout.position)); return \(self.read(layout)) }")
            writer.line("set { \(self.write(layout)) }")
        }
    }

    func emitIgnored(_ property: PropertyModel, into writer: inout SourceWriter) {
        writer.heading(property.documentation, deprecation: property.deprecation)
        let value = SwiftValues.initial(of: property, in: context.schema)
        writer.line(
            "\(context.access.modifier)final var \(SwiftNames.escaped(property.name)): "
                + "\(context.types.property(property.type)) = \(value)")
    }

    private func read(_ layout: PropertyLayout) -> String {
        if !layout.type.isSingle { return layout.collectionCall }
        return switch layout.type.value {
        case .link, .embedded: "_link(\(layout.storage))"
        case .scalar(.anyValue): "_any(\(layout.storage))"
        default: layout.storage
        }
    }

    private func write(_ layout: PropertyLayout) -> String {
        let position = layout.position
        if !layout.type.isSingle { return "_load(\(position)); \(layout.collectionCall)._assign(newValue)" }
        return switch layout.type.value {
        case .link: "_setLink(\(position), &\(layout.storage), newValue)"
        case .embedded: "_setEmbedded(\(position), &\(layout.storage), newValue)"
        case .scalar(.anyValue): "_setAny(\(position), &\(layout.storage), newValue)"
        default: "_willSet(\(position)); \(layout.storage) = newValue; _didSet(\(position))"
        }
    }
}
