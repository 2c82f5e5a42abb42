import MartletSchema

/// Writes the functions that decode and encode the values of an object.
struct RowEmitter {
    let context: EmitterContext
    let codes: [PropertyCode]

    func emit(into writer: inout SourceWriter) {
        writer.line()
        let head = context.access.hiddenOverride
        writer.block("\(head)func _decode(_ row: inout Martlet.RowDecoder)") { writer in
            for code in codes { writer.line(statement(code, decodes: true)) }
        }
        writer.line()
        writer.block("\(head)func _encode(_ row: inout Martlet.RowEncoder)") { writer in
            for code in codes { writer.line(statement(code, decodes: false)) }
        }
    }

    /// The statement that decodes or encodes the value of a property.
    private func statement(_ code: PropertyCode, decodes: Bool) -> String {
        if code.type.isLinkingObjects { return "row.skip()" }
        if !code.type.isSingle { return "row.collection(&\(code.storage))" }
        return switch code.type.value {
        case .link: "row.link(&\(code.storage))"
        case .embedded: "row.\(decodes ? "link" : "embedded")(&\(code.storage))"
        case .scalar(.anyValue): "row.anyValue(&\(code.storage))"
        default: "row.\(method(of: code.type))(\(decodes ? "&" : "")\(code.storage))"
        }
    }

    /// The name of the methods that decode and encode a value of the type, such as `int` or `optionalInt`.
    private func method(of type: PropertyTypeModel) -> String {
        let name =
            switch type.value {
            case .scalar(let kind): RowEmitter.methodName(of: kind)
            default: "enumeration"
            }
        guard type.isOptional else { return name }
        return "optional" + name.prefix(1).uppercased() + name.dropFirst()
    }

    private static func methodName(of kind: ScalarKind) -> String {
        switch kind {
        case .bool: "bool"
        case .int: "int"
        case .int8: "int8"
        case .int16: "int16"
        case .int32: "int32"
        case .int64: "int64"
        case .float: "float"
        case .double: "double"
        case .string: "string"
        case .data: "data"
        case .date: "date"
        case .uuid: "uuid"
        case .objectId: "objectId"
        case .decimal128: "decimal128"
        case .anyValue: "anyValue"
        }
    }
}
