import MartletSchema

/// Writes the initial values and default values of properties.
enum SwiftValues {
    /// The initial value of the private stored property.
    static func storageInitialValue(of type: PropertyTypeModel, in schema: SchemaModel) -> String {
        if !type.isSingle { return "nil" }
        if type.value.objectName != nil { return ".none" }
        return type.isOptional ? "nil" : zero(of: type.value, in: schema)
    }

    /// The value of the property in a new object: the default from the schema. If the schema declares no default, the
    /// value is nil, false, zero, empty, or the first case of the enum.
    static func defaultExpression(of property: PropertyModel, in schema: SchemaModel) -> String {
        if let value = property.defaultValue { return literal(value, for: property.type) }
        switch property.type.kind {
        case .single: return property.type.isOptional ? "nil" : zero(of: property.type.value, in: schema)
        case .map: return "[:]"
        case .list, .set, .linkingObjects: return "[]"
        }
    }

    private static func zero(of value: ValueTypeModel, in schema: SchemaModel) -> String {
        switch value {
        case .enumeration(let name, _):
            return "." + SwiftNames.escaped(schema.enumeration(named: name)?.cases.first?.name ?? "")
        case .link, .embedded: return "nil"
        case .scalar(let kind): return zero(of: kind)
        }
    }

    private static func zero(of kind: ScalarKind) -> String {
        switch kind {
        case .bool: "false"
        case .int, .int8, .int16, .int32, .int64, .float, .double: "0"
        case .string: "\"\""
        case .data: "Foundation.Data()"
        case .date: "Foundation.Date(timeIntervalSinceReferenceDate: 0)"
        case .uuid: SwiftLiteral.uuid(Array(repeating: 0, count: 16))
        case .objectId: ".zero"
        case .decimal128: ".zero"
        case .anyValue: ".none"
        }
    }

    /// The Swift expression for a default. The expression has the type of the property.
    static func literal(_ value: DefaultModel, for type: PropertyTypeModel) -> String {
        if type.value == .scalar(.anyValue) { return dynamicLiteral(value) }
        switch value {
        case .enumCase(let name):
            // If the property is optional, the case is wrapped in `.some`, because `.none` alone would mean
            // `Optional.none`. The case is written without the name of the enum (`.large`, not `Size.large`), because a
            // property can have that name.
            let value = "." + SwiftNames.escaped(name)
            return type.isOptional ? ".some(\(value))" : value
        case .floating(let number) where type.value == .scalar(.float):
            return SwiftLiteral.float(number)
        default:
            return plainLiteral(value)
        }
    }

    private static func plainLiteral(_ value: DefaultModel) -> String {
        switch value {
        case .bool(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .floating(let number): SwiftLiteral.double(number)
        case .string(let text): SwiftLiteral.string(text)
        case .data(let bytes): "Foundation.Data(\(bytes))"
        case .date(let seconds):
            "Foundation.Date(timeIntervalSinceReferenceDate: \(SwiftLiteral.double(seconds)))"
        case .now: "Foundation.Date()"
        case .uuid(let bytes): SwiftLiteral.uuid(bytes)
        case .newUUID: "Foundation.UUID()"
        case .objectId(let bytes): "Martlet.ObjectId(\(SwiftLiteral.string(SwiftLiteral.hexadecimal(bytes))))"
        case .newObjectId: "Martlet.ObjectId.generate()"
        case .decimal128(let text): "Martlet.Decimal128(\(SwiftLiteral.string(text)))"
        case .enumCase(let name): "." + SwiftNames.escaped(name)
        }
    }

    private static func dynamicLiteral(_ value: DefaultModel) -> String {
        let kind =
            switch value {
            case .bool: "bool"
            case .integer: "int"
            case .floating: "double"
            case .string, .enumCase: "string"
            case .data: "data"
            case .date, .now: "date"
            case .uuid, .newUUID: "uuid"
            case .objectId, .newObjectId: "objectId"
            case .decimal128: "decimal128"
            }
        if case .enumCase(let name) = value { return ".\(kind)(\(SwiftLiteral.string(name)))" }
        return ".\(kind)(\(plainLiteral(value)))"
    }

    /// Whether the Swift expression for the default contains the name of a type of Foundation.
    static func needsFoundation(_ value: DefaultModel?) -> Bool {
        switch value {
        case .data, .date, .now, .uuid, .newUUID: true
        default: false
        }
    }
}
