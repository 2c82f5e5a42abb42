import Foundation
import Testing

/// Validates values against a JSON Schema. It supports only the keywords that Martlet's JSON Schema uses, and reports
/// any other keyword as a problem.
struct SchemaValidator {
    private let root: [String: Any]
    private static let annotations: Set<String> = ["$schema", "$defs", "title", "description"]

    init(_ text: String) throws {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        root = try #require(value as? [String: Any])
    }

    /// Returns a message for each violation, with the path to the invalid part of the value.
    func problems(of value: Any) -> [String] { problems(of: value, root, at: "$") }

    private func problems(of value: Any, _ schema: Any, at path: String) -> [String] {
        if let isAllowed = schema as? Bool { return isAllowed ? [] : ["\(path) must not be there"] }
        guard let schema = schema as? [String: Any] else { return ["the schema at \(path) is not an object"] }
        return schema.keys.sorted().filter { !Self.annotations.contains($0) }.flatMap { keyword in
            problems(of: value, keyword, schema, at: path)
        }
    }

    private func problems(of value: Any, _ keyword: String, _ schema: [String: Any], at path: String) -> [String] {
        let operand = schema[keyword] ?? false
        switch keyword {
        case "$ref": return problems(of: value, definition(operand), at: path)
        case "type":
            let types = operand as? [String] ?? [operand as? String ?? ""]
            return types.contains(Self.type(of: value)) ? [] : ["\(path) is none of \(types)"]
        case "enum":
            let words = operand as? [String] ?? []
            return words.contains { $0 == value as? String } ? [] : ["\(path) is none of \(words)"]
        case "pattern":
            guard let text = value as? String, let pattern = operand as? String else { return [] }
            let isMatching = (try? Regex(pattern).firstMatch(in: text)) != nil
            return isMatching ? [] : ["\(path) '\(text)' does not look like \(pattern)"]
        case "anyOf":
            let found = (operand as? [Any] ?? []).map { problems(of: value, $0, at: path) }
            return found.contains([]) ? [] : found.flatMap(\.self)
        case "not": return problems(of: value, operand, at: path).isEmpty ? ["\(path) is forbidden"] : []
        case "items", "minItems", "uniqueItems": return problems(ofList: value, keyword, operand, at: path)
        case "required", "properties", "propertyNames", "minProperties", "additionalProperties":
            return problems(ofObject: value, keyword, operand, schema, at: path)
        default: return ["unknown keyword '\(keyword)'"]
        }
    }

    private func problems(ofList value: Any, _ keyword: String, _ operand: Any, at path: String) -> [String] {
        guard let values = value as? [Any] else { return [] }
        if keyword == "minItems" { return values.count >= operand as? Int ?? 0 ? [] : ["\(path) is empty"] }
        if keyword == "uniqueItems" {
            let texts = values.compactMap { $0 as? String }
            return Set(texts).count == texts.count ? [] : ["\(path) holds something twice"]
        }
        return values.enumerated().flatMap { problems(of: $0.element, operand, at: "\(path)[\($0.offset)]") }
    }

    private func problems(
        ofObject value: Any, _ keyword: String, _ operand: Any, _ schema: [String: Any], at path: String
    ) -> [String] {
        guard let members = value as? [String: Any] else { return [] }
        let properties = schema["properties"] as? [String: Any] ?? [:]
        return switch keyword {
        case "required":
            (operand as? [String] ?? []).filter { members[$0] == nil }.map { "\(path) has no '\($0)'" }
        case "minProperties": members.count >= operand as? Int ?? 0 ? [] : ["\(path) is empty"]
        case "propertyNames": members.keys.flatMap { problems(of: $0, operand, at: "\(path).\($0)") }
        case "properties":
            members.flatMap { name, value in
                properties[name].map { problems(of: value, $0, at: "\(path).\(name)") } ?? []
            }
        default:
            members.filter { properties[$0.key] == nil }
                .flatMap { problems(of: $0.value, operand, at: "\(path).\($0.key)") }
        }
    }

    private func definition(_ reference: Any) -> Any {
        let definitions = root["$defs"] as? [String: Any] ?? [:]
        let name = (reference as? String)?.split(separator: "/").last.map(String.init) ?? ""
        return definitions[name] ?? false
    }

    private static func type(of value: Any) -> String {
        switch value {
        case is NSNull: "null"
        case is [Any]: "array"
        case is [String: Any]: "object"
        case is String: "string"
        case let value as CoreScalar: value.type
        default: "unknown"
        }
    }
}

/// A boolean or a number of the YAML core schema. `NSNumber` is not used, because it does not distinguish booleans from
/// numbers, as JSON does.
enum CoreScalar {
    case boolean(Bool)
    case number(Double)

    var type: String {
        switch self {
        case .boolean: "boolean"
        case .number: "number"
        }
    }
}
