import Foundation
import MartletSchema

/// The result of converting a default.
enum DefaultOutcome: Equatable {
    /// The schema does not have to declare the default, because Martlet uses the same default anyway.
    case nothing
    case value(DefaultDraft)
    /// A schema does not support the default. The text says how to replace it.
    case failure(String)
}

/// Converts the defaults of properties to the syntax of a schema.
struct DefaultReader {
    let index: TypeIndex
    private static let advice = "set it where objects are created"

    func read(_ value: ValueExpression, for type: PropertyTypeDraft, from scope: [String]) -> DefaultOutcome {
        let value = unwrapped(value, isOptional: type.isOptional)
        guard !value.isNull else { return .nothing }
        guard type.shape == .single else { return isEmptyCollection(value) ? .nothing : .failure(Self.advice) }
        switch type.value {
        case .type(let key):
            return index.role(of: key) == .enumeration ? enumCase(value, of: key, from: scope) : link()
        case .scalar(let scalar):
            if type.isOptional, let empty = emptyInOptional(value, scalar, from: scope) { return empty }
            return literal(value, scalar, from: scope)
        }
    }

    /// Removes casts, and the calls that make a value optional: `.none` becomes nil, and `.some(5)` becomes 5.
    private func unwrapped(_ value: ValueExpression, isOptional: Bool) -> ValueExpression {
        switch value.form {
        case .cast(let inner, _): return unwrapped(inner, isOptional: isOptional)
        case .member(["", "none"]) where isOptional, .member(["Optional", "none"]):
            return ValueExpression(form: .null, text: value.text, span: value.span)
        case .call(["", "some"], _, let arguments) where isOptional && arguments.count == 1,
            .call(["Optional"], _, let arguments) where arguments.count == 1,
            .call(["Optional", "some"], _, let arguments) where arguments.count == 1:
            return unwrapped(arguments[0].value, isOptional: isOptional)
        default: return value
        }
    }

    /// Returns the value of `Int()` and similar calls for an optional property, whose default would otherwise be nil.
    private func emptyInOptional(_ value: ValueExpression, _ scalar: String, from scope: [String]) -> DefaultOutcome? {
        guard case .call(let path, _, let arguments) = value.form, arguments.isEmpty, makes(scalar, path, from: scope)
        else { return nil }
        switch scalar {
        case "Bool": return .value(.text("false"))
        case "Int", "Int8", "Int16", "Int32", "Int64", "Float", "Double", "Decimal128": return .value(.text("0"))
        case "Data": return .value(.text("\"\""))
        case "ObjectId": return .value(.text(String(repeating: "0", count: 24)))
        default: return nil
        }
    }

    /// Returns whether a call creates a value of the type, such as a call of `UUID`, `UUID.init`, `.init` or `NSUUID`.
    private func makes(_ scalar: String, _ path: [String], from scope: [String]) -> Bool {
        if path == ["", "init"] { return true }
        let names = path.last == "init" ? path.dropLast() : path[...]
        guard case .name(let name) = index.expand(.name(names.joined(separator: ".")), from: scope).type else {
            return false
        }
        return (PropertyTypeDraft.synonyms[name.withoutModule] ?? name.withoutModule) == scalar
    }

    /// Returns Realm's default for a property that declares none; nil if Martlet has the same default.
    func implicit(for type: PropertyTypeDraft) -> DefaultDraft? {
        guard type.shape == .single, !type.isOptional else { return nil }
        switch type.scalar {
        case "UUID", "ObjectId": return .text("new")
        case "Date": return .text("now")
        default: return nil
        }
    }

    private func link() -> DefaultOutcome { .failure("a link begins as nil, so \(Self.advice)") }

    private func isEmptyCollection(_ value: ValueExpression) -> Bool {
        switch value.form {
        case .array(let items): items.isEmpty
        case .dictionary(let entries): entries.isEmpty
        case .call(let path, _, let arguments):
            path == ["LinkingObjects"]
                || arguments.isEmpty && (path.last == "init" || path.last?.first?.isUppercase == true)
        default: false
        }
    }

    private func enumCase(_ value: ValueExpression, of key: String, from scope: [String]) -> DefaultOutcome {
        guard case .member(let path) = value.form, let name = path.last,
            isEnum(Array(path.dropLast()), key, from: scope),
            EnumReader(index: index).cases(of: key).contains(where: { $0.declaration.name.value == name })
        else { return .failure(Self.advice) }
        return .value(.enumCase(name))
    }

    /// Returns whether the components before a case are empty or name the enum `key`.
    private func isEnum(_ names: [String], _ key: String, from scope: [String]) -> Bool {
        let names = names.first == "Self" ? Array(names.dropFirst()) : names
        return names == [""] || TypeInference(index: index).enumeration(names, from: scope) == key
    }

    // MARK: Scalars

    private func literal(_ value: ValueExpression, _ scalar: String, from scope: [String]) -> DefaultOutcome {
        if case .cast(let inner, _) = value.form { return literal(inner, scalar, from: scope) }
        if case .call(let path, _, let arguments) = value.form, makes(scalar, path, from: scope) {
            // Calls such as 'Int64(5)' and 'Data()'. 'RealmOptional<Int>(5)' has already been replaced with its value.
            if arguments.isEmpty { return empty(scalar) }
            if arguments.count == 1, arguments[0].label == nil || arguments[0].label == "value" {
                return literal(arguments[0].value, scalar, from: scope)
            }
        }
        switch scalar {
        case "Bool": if case .bool(let truth) = value.form { return .value(.text("\(truth)")) }
        case "Int", "Int8", "Int16", "Int32", "Int64": return integer(value, scalar, from: scope)
        case "Float", "Double", "Decimal128": return floating(value, scalar)
        case "String": return text(value, from: scope)
        case "Data": return data(value, from: scope)
        case "Date": return date(value, from: scope)
        case "UUID", "ObjectId": return identifier(value, scalar, from: scope)
        case "AnyRealmValue": return anyValue(value)
        default: break
        }
        return .failure(Self.advice)
    }

    private func empty(_ scalar: String) -> DefaultOutcome {
        switch scalar {
        case "String": .value(.text("\"\""))
        case "UUID": .value(.text("new"))
        case "Date": .value(.text("now"))
        default: .nothing
        }
    }

    private func integer(_ value: ValueExpression, _ scalar: String, from scope: [String]) -> DefaultOutcome {
        switch value.form {
        case .integer(let digits): return .value(.text(digits))
        case .member(let path):
            if let raw = rawValue(path, from: scope), let number = Int(raw) { return .value(.text("\(number)")) }
            let bits = Int(scalar.dropFirst(3)) ?? 64
            let largest = Int64.max >> Int64(64 - bits)
            guard path.count == 2, ["", scalar].contains(path[0]) else { break }
            switch path[1] {
            case "zero": return .value(.text("0"))
            case "max": return .value(.text("\(largest)"))
            case "min": return .value(.text("\(-largest - 1)"))
            default: break
            }
        default: break
        }
        return .failure(Self.advice)
    }

    private func floating(_ value: ValueExpression, _ scalar: String) -> DefaultOutcome {
        switch value.form {
        case .integer(let digits), .floating(let digits): return .value(.text(digits))
        case .member(let path) where path.last == "zero" && ["", scalar].contains(path[0]): return .value(.text("0"))
        case .call(let path, _, let arguments):
            let isNumber = path.last == scalar && arguments.count == 1 && arguments[0].label == "string"
            guard isNumber, let text = arguments[0].value.string, Double(text)?.isFinite == true else { break }
            return .value(.text(text))
        default: break
        }
        return .failure(Self.advice)
    }

    private func text(_ value: ValueExpression, from scope: [String]) -> DefaultOutcome {
        switch value.form {
        case .string(let text): return .value(.text(YAMLText.literal(text)))
        case .member(let path):
            if let raw = rawValue(path, from: scope) { return .value(.text(YAMLText.literal(raw))) }
            if path.last == "uuidString" {
                return .failure("write 'UUID = new' in the schema, or \(Self.advice)")
            }
            if path.last == "stringValue", path.first == "ObjectId" {
                return .failure("write 'ObjectId = new' in the schema, or \(Self.advice)")
            }
        default: break
        }
        return .failure(Self.advice)
    }

    /// Returns the raw value that an expression such as `Size.small.rawValue` has.
    private func rawValue(_ path: [String], from scope: [String]) -> String? {
        guard path.last == "rawValue", path.count > 2,
            let key = TypeInference(index: index).enumeration(Array(path.dropLast(2)), from: scope)
        else { return nil }
        return EnumReader(index: index).cases(of: key).first { $0.declaration.name.value == path[path.count - 2] }?.raw
    }

    /// Returns a default of type `Data`. The schema contains the bytes in Base64.
    private func data(_ value: ValueExpression, from scope: [String]) -> DefaultOutcome {
        if case .call(let path, _, _) = value.form, !makes("Data", path, from: scope) { return .failure(Self.advice) }
        guard let bytes = bytes(of: value), bytes.count <= Self.maximumBytes else { return .failure(Self.advice) }
        return .value(.text("\"\(bytes.base64EncodedString())\""))
    }

    private static let maximumBytes = 4096

    /// Returns the bytes of `[1, 2, 3]`, `"text".utf8`, `Data(bytes: …)` or `Data(base64Encoded: …)`.
    private func bytes(of value: ValueExpression) -> Data? {
        switch value.form {
        case .utf8(let text): return Data(text.utf8)
        case .array(let items):
            let bytes = items.map { item in
                if case .integer(let digits) = item.form { UInt8(digits) } else { UInt8?.none }
            }
            return bytes.contains(nil) ? nil : Data(bytes.compactMap { $0 })
        case .call(_, _, let arguments):
            switch (arguments.first?.label, arguments.count) {
            case ("bytes", 1): return bytes(of: arguments[0].value)
            case ("base64Encoded", 1): return arguments[0].value.string.flatMap { Data(base64Encoded: $0) }
            default: return nil
            }
        default: return nil
        }
    }

    private func date(_ value: ValueExpression, from scope: [String]) -> DefaultOutcome {
        switch value.form {
        case .member(let path) where path.last == "now" && path.count == 2 && ["", "Date"].contains(path[0]):
            return .value(.text("now"))
        case .call(let path, _, let arguments):
            guard arguments.count == 1, makes("Date", path, from: scope), let seconds = seconds(of: arguments[0].value)
            else { break }
            switch arguments[0].label {
            case "timeIntervalSince1970": return .value(.text(isoText(seconds)))
            case "timeIntervalSinceReferenceDate": return .value(.text(isoText(seconds + 978_307_200)))
            case "timeIntervalSinceNow" where seconds == 0: return .value(.text("now"))
            default: break
            }
        default: break
        }
        return .failure(Self.advice)
    }

    /// Returns the seconds if they are a whole number of less than 60 billion, so that the year has four digits.
    private func seconds(of value: ValueExpression) -> Double? {
        let number: Double? =
            switch value.form {
            case .integer(let digits), .floating(let digits): Double(digits)
            default: nil
            }
        return number.flatMap { $0.rounded() == $0 && abs($0) < 60_000_000_000 ? $0 : nil }
    }

    private func isoText(_ seconds: Double) -> String {
        ISO8601DateFormatter().string(from: Date(timeIntervalSince1970: seconds))
    }

    /// Converts identifiers such as `ObjectId("…")`, `UUID(uuidString: "…")` and `ObjectId.generate()`.
    private func identifier(_ value: ValueExpression, _ scalar: String, from scope: [String]) -> DefaultOutcome {
        var literal = value.string
        if case .call(let path, _, let arguments) = value.form {
            let base = Array(path.dropLast())
            if path.last == "generate", arguments.isEmpty, base == [""] || makes(scalar, base, from: scope) {
                return .value(.text("new"))
            }
            guard arguments.count == 1, makes(scalar, path, from: scope) else { return .failure(Self.advice) }
            literal = arguments[0].value.string
        }
        guard let text = literal else { return .failure(Self.advice) }
        let isGood =
            scalar == "UUID"
            ? UUID(uuidString: text) != nil : text.utf8.count == 24 && text.allSatisfy(\.isHexDigit)
        return isGood ? .value(.text(text)) : .failure(Self.advice)
    }

    /// Converts values of `AnyRealmValue`, such as `.string("x")` and `.int(5)`.
    private func anyValue(_ value: ValueExpression) -> DefaultOutcome {
        switch value.form {
        case .member(let path) where path.last == "none": return .nothing
        case .call(let path, _, let arguments):
            guard arguments.count == 1 else { break }
            switch (path.last, arguments[0].value.form) {
            case ("string", .string(let text)): return .value(.text(YAMLText.literal(text)))
            case ("bool", .bool(let truth)): return .value(.text("\(truth)"))
            case ("int", .integer(let digits)): return .value(.text(digits))
            case ("double", .floating(let digits)): return .value(.text(digits))
            default: break
            }
        default: break
        }
        return .failure(Self.advice)
    }
}
