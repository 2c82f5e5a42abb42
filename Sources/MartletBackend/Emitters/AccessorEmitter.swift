import MartletSchema

/// One property of an object, with the names and expressions that generated code uses for it.
struct PropertyCode {
    let property: PropertyModel
    /// The position among the properties of the type, from 0.
    let position: Int
    /// The name of the private stored property that contains the value.
    let storage: String

    var name: String { SwiftNames.escaped(property.name) }
    var type: PropertyTypeModel { property.type }

    /// The Swift expression that returns the collection of a list, set or map property, such as `_list(6, &_siblings)`.
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

/// Writes the private stored properties of a class, and the computed properties that read and write them.
struct AccessorEmitter {
    let context: EmitterContext

    func emitStorage(_ code: PropertyCode, into writer: inout SourceWriter) {
        guard !code.type.isLinkingObjects else { return }
        let start = SwiftValues.storageInitialValue(of: code.type, in: context.schema)
        writer.line(
            "@exclusivity(unchecked) private final var \(code.storage): \(context.types.storage(code.type)) = \(start)"
        )
    }

    func emitAccessor(_ code: PropertyCode, into writer: inout SourceWriter) {
        let property = code.property
        writer.heading(property.documentation, deprecation: property.deprecation)
        let head = "\(context.access.modifier)var \(code.name): \(context.types.property(code.type))"
        if code.type.isLinkingObjects {
            writer.line("\(head) { _load(\(code.position)); return _linkingObjects(\(code.position)) }")
            return
        }
        writer.block(head) { writer in
            writer.line("get { _load(\(code.position)); return \(self.read(code)) }")
            writer.line("set { \(self.write(code)) }")
        }
    }

    func emitIgnored(_ property: PropertyModel, into writer: inout SourceWriter) {
        writer.heading(property.documentation, deprecation: property.deprecation)
        let value = SwiftValues.defaultExpression(of: property, in: context.schema)
        writer.line(
            "\(context.access.modifier)final var \(SwiftNames.escaped(property.name)): "
                + "\(context.types.property(property.type)) = \(value)")
    }

    private func read(_ code: PropertyCode) -> String {
        if !code.type.isSingle { return code.collectionCall }
        return switch code.type.value {
        case .link, .embedded: "_link(\(code.storage))"
        case .scalar(.anyValue): "_any(\(code.storage))"
        default: code.storage
        }
    }

    private func write(_ code: PropertyCode) -> String {
        let position = code.position
        if !code.type.isSingle { return "_load(\(position)); \(code.collectionCall)._assign(newValue)" }
        return switch code.type.value {
        case .link: "_setLink(\(position), &\(code.storage), newValue)"
        case .embedded: "_setEmbedded(\(position), &\(code.storage), newValue)"
        case .scalar(.anyValue): "_setAny(\(position), &\(code.storage), newValue)"
        default: "_willSet(\(position)); \(code.storage) = newValue; _didSet(\(position))"
        }
    }
}
