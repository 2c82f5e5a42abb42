import Foundation
import MartletSchema
import Testing

@testable import MartletFrontend

/// Reads values from YAML text as language servers do, with the types of the YAML 1.2 core schema.
enum CoreValues {
    static func value(of text: String) throws -> Any {
        let reading = FileReader.read(SourceText(file: SourceFileID(0), path: "Schema.yaml", text: text))
        try #require(!reading.diagnostics.hasErrors)
        let root = try #require(reading.root)
        return try value(of: root)
    }

    private static func value(of node: YAMLNode) throws -> Any {
        switch node {
        case .scalar(let scalar): return value(of: scalar)
        case .sequence(let sequence): return try sequence.items.map(value)
        case .mapping(let mapping):
            return try Dictionary(mapping.entries.map { ($0.key.text, try value(of: $0.value)) }) { first, _ in first }
        case .broken:
            Issue.record("a part of the text cannot be read")
            return NSNull()
        }
    }

    private static func value(of scalar: YAMLScalar) -> Any {
        guard scalar.isPlain else { return scalar.text }
        switch scalar.text {
        case "", "~", "null", "Null", "NULL": return NSNull()
        case "true", "True", "TRUE": return CoreScalar.boolean(true)
        case "false", "False", "FALSE": return CoreScalar.boolean(false)
        default:
            let isNumber =
                scalar.text.wholeMatch(of: /[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?/) != nil
            return isNumber ? CoreScalar.number(Double(scalar.text) ?? 0) : scalar.text
        }
    }

    /// Converts a value to types that `JSONSerialization` accepts, for a validator that runs in another program.
    static func json(_ value: Any) -> Any {
        switch value {
        case CoreScalar.boolean(let value): value
        case CoreScalar.number(let value): value
        case let values as [Any]: values.map(json)
        case let members as [String: Any]: members.mapValues(json)
        default: value
        }
    }
}
