import Foundation
import MartletSchema

/// What became of a default.
enum DefaultOutcome: Equatable {
    /// The schema begins with it anyway.
    case nothing
    case value(DefaultDraft)
    /// What to do by hand.
    case failure(String)
}

/// Defaults as a schema writes them.
struct DefaultReader {
    let index: TypeIndex
    private static let byHand = "set it where objects are made"

    func read(_ value: ValueExpression, for type: PropertyTypeDraft, from scope: [String]) -> DefaultOutcome {
        guard !value.isNull else { return .nothing }
        guard type.shape == .single else { return isEmptyCollection(value) ? .nothing : .failure(Self.byHand) }
        switch type.value {
        case .type(let key): return index.role(of: key) == .enumeration ? enumCase(value, of: key) : link()
        case .scalar(let scalar): return literal(value, scalar, from: scope)
        }
    }

    /// What Realm gives without a default, and a schema does not.
    func implicit(for type: PropertyTypeDraft) -> DefaultDraft? {
        guard type.shape == .single, !type.isOptional else { return nil }
        switch type.scalar {
        case "UUID", "ObjectId": return .text("new")
        case "Date": return .text("now")
        default: return nil
        }
    }

    private func link() -> DefaultOutcome { .failure("a link begins as nil, so \(Self.byHand)") }

    private func isEmptyCollection(_ value: ValueExpression) -> Bool {
        switch value.form {
        case .array(let items): items.isEmpty
        case .dictionary(let entries): entries.isEmpty
        case .call(let path, _, let arguments): path == ["LinkingObjects"] || arguments.isEmpty
        default: false
        }
    }

    private func enumCase(_ value: ValueExpression, of key: String) -> DefaultOutcome {
        guard case .member(let path) = value.form, let name = path.last,
            EnumReader(index: index).cases(of: key).contains(where: { $0.declaration.name.value == name })
        else { return .failure(Self.byHand) }
        return .value(.enumCase(name))
    }

    // MARK: Scalars

    private func literal(_ value: ValueExpression, _ scalar: String, from scope: [String]) -> DefaultOutcome {
        if case .cast(let inner, _) = value.form { return literal(inner, scalar, from: scope) }
        if case .call(let path, _, let arguments) = value.form, path.last == scalar || path == ["", "init"] {
            // 'Int64(5)', 'Data()', and 'RealmOptional<Int>(5)' has lost its own name before.
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
        case "Date": return date(value)
        case "UUID", "ObjectId": return identity(value, scalar)
        case "AnyRealmValue": return anyValue(value)
        default: break
        }
        return .failure(Self.byHand)
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
        return .failure(Self.byHand)
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
        return .failure(Self.byHand)
    }

    private func text(_ value: ValueExpression, from scope: [String]) -> DefaultOutcome {
        switch value.form {
        case .string(let text): return .value(.text(YAMLText.literal(text)))
        case .member(let path):
            if let raw = rawValue(path, from: scope) { return .value(.text(YAMLText.literal(raw))) }
            if path.last == "uuidString" {
                return .failure("write 'UUID = new' in the schema, or \(Self.byHand)")
            }
            if path.last == "stringValue", path.first == "ObjectId" {
                return .failure("write 'ObjectId = new' in the schema, or \(Self.byHand)")
            }
        default: break
        }
        return .failure(Self.byHand)
    }

    /// What `Size.small.rawValue` is.
    private func rawValue(_ path: [String], from scope: [String]) -> String? {
        guard path.last == "rawValue", path.count > 2,
            let key = TypeInference(index: index).enumeration(Array(path.dropLast(2)), from: scope)
        else { return nil }
        return EnumReader(index: index).cases(of: key).first { $0.declaration.name.value == path[path.count - 2] }?.raw
    }

    private func date(_ value: ValueExpression) -> DefaultOutcome {
        switch value.form {
        case .member(let path) where path.last == "now" && path.count == 2: return .value(.text("now"))
        case .call(_, _, let arguments):
            guard arguments.count == 1, let seconds = seconds(of: arguments[0].value) else { break }
            switch arguments[0].label {
            case "timeIntervalSince1970": return .value(.text(isoText(seconds)))
            case "timeIntervalSinceReferenceDate": return .value(.text(isoText(seconds + 978_307_200)))
            case "timeIntervalSinceNow" where seconds == 0: return .value(.text("now"))
            default: break
            }
        default: break
        }
        return .failure(Self.byHand)
    }

    /// Whole seconds of the years that a schema can write.
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

    private func identity(_ value: ValueExpression, _ scalar: String) -> DefaultOutcome {
        guard case .call(let path, _, let arguments) = value.form else { return .failure(Self.byHand) }
        if path.last == "generate", arguments.isEmpty { return .value(.text("new")) }
        guard arguments.count == 1, let text = arguments[0].value.string else { return .failure(Self.byHand) }
        let isGood =
            scalar == "UUID"
            ? UUID(uuidString: text) != nil : text.utf8.count == 24 && text.allSatisfy(\.isHexDigit)
        return isGood ? .value(.text(text)) : .failure(Self.byHand)
    }

    /// `.string("x")`, `.int(5)`.
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
        return .failure(Self.byHand)
    }
}
