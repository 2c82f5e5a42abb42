import Foundation

/// The requirements of SARIF 2.1.0 for the objects in Martlet's reports. They were written by hand from sections 3.13
/// to 3.57 of the standard. As in the JSON schema of the standard, an object must not have members that are not listed.
indirect enum SARIFShape: Sendable {
    case text
    case uri
    case integer(from: Int)
    case word(Set<String>)
    case list(SARIFShape, isUnique: Bool = false, isEmptyAllowed: Bool = true)
    case map(SARIFShape)
    case object(required: Set<String>, [String: SARIFShape])
    /// A property bag: any object.
    case bag

    static let log = object(
        required: ["version", "runs"], ["$schema": uri, "version": word(["2.1.0"]), "runs": list(run)])

    private static let run = object(
        required: ["tool"],
        [
            "tool": object(required: ["driver"], ["driver": component]),
            "columnKind": word(["utf16CodeUnits", "unicodeCodePoints"]),
            "newlineSequences": list(text, isUnique: true, isEmptyAllowed: false),
            "originalUriBaseIds": map(artifactLocation),
            "results": list(result),
        ])

    private static let component = object(
        required: ["name"],
        ["name": text, "version": text, "semanticVersion": text, "rules": list(rule, isUnique: true)])

    private static let rule = object(
        required: ["id"],
        [
            "id": text, "name": text, "shortDescription": description, "fullDescription": description,
            "help": description, "defaultConfiguration": object(required: [], ["level": level]),
        ])

    private static let description = object(required: ["text"], ["text": text, "markdown": text])
    private static let level = word(["none", "note", "warning", "error"])
    /// The standard requires a text or an id. Martlet always writes a text.
    private static let message = object(required: ["text"], ["text": text])

    private static let result = object(
        required: ["message"],
        [
            "ruleId": text, "ruleIndex": integer(from: -1), "level": level, "message": message,
            "locations": list(location), "relatedLocations": list(location, isUnique: true),
            "partialFingerprints": map(text), "fixes": list(fix, isUnique: true),
        ])

    private static let location = object(
        required: [], ["id": integer(from: -1), "physicalLocation": physicalLocation, "message": message])

    /// The standard requires an artifact location or an address. Martlet always writes an artifact location.
    private static let physicalLocation = object(
        required: ["artifactLocation"], ["artifactLocation": artifactLocation, "region": region])

    private static let artifactLocation = object(
        required: [], ["uri": uri, "uriBaseId": text, "description": message])

    private static let region = object(
        required: ["startLine"],
        [
            "startLine": integer(from: 1), "startColumn": integer(from: 1), "endLine": integer(from: 1),
            "endColumn": integer(from: 1),
        ])

    private static let fix = object(
        required: ["artifactChanges"],
        [
            "description": message, "artifactChanges": list(change, isUnique: true, isEmptyAllowed: false),
            "properties": bag,
        ])

    private static let change = object(
        required: ["artifactLocation", "replacements"],
        ["artifactLocation": artifactLocation, "replacements": list(replacement, isEmptyAllowed: false)])

    private static let replacement = object(
        required: ["deletedRegion"],
        ["deletedRegion": region, "insertedContent": object(required: [], ["text": text])])

    // MARK: Checking

    /// Returns a description of each violation. Each description begins with the path of the value.
    func problems(of value: Any, at path: String = "$") -> [String] {
        switch self {
        case .bag: return value is [String: Any] ? [] : ["\(path) is not an object"]
        case .text: return value is String ? [] : ["\(path) is not a string"]
        case .uri: return SARIFShape.isReference(value) ? [] : ["\(path) is not a URI reference"]
        case .integer(let least):
            guard let number = value as? Int, number >= least else { return ["\(path) is not an integer >= \(least)"] }
            return []
        case .word(let words):
            guard let word = value as? String, words.contains(word) else { return ["\(path) is not one of \(words)"] }
            return []
        case .list(let element, let isUnique, let isEmptyAllowed):
            guard let values = value as? [Any] else { return ["\(path) is not an array"] }
            var problems: [String] = []
            if values.isEmpty, !isEmptyAllowed { problems.append("\(path) is empty") }
            if isUnique, Set(values.map { $0 as? NSObject }).count < values.count {
                problems.append("\(path) holds something twice")
            }
            return problems
                + values.enumerated().flatMap { element.problems(of: $0.element, at: "\(path)[\($0.offset)]") }
        case .map(let element):
            guard let members = value as? [String: Any] else { return ["\(path) is not an object"] }
            return members.flatMap { element.problems(of: $0.value, at: "\(path).\($0.key)") }
        case .object(let required, let shapes):
            guard let members = value as? [String: Any] else { return ["\(path) is not an object"] }
            let missing = required.subtracting(members.keys).map { "\(path) has no '\($0)'" }
            return missing
                + members.flatMap { name, value in
                    shapes[name]?.problems(of: value, at: "\(path).\(name)") ?? ["\(path) cannot hold '\(name)'"]
                }
        }
    }

    /// Checks that RFC 3986 allows all characters, and that every percent sign begins an escape.
    private static func isReference(_ value: Any) -> Bool {
        guard let text = value as? String else { return false }
        return text.wholeMatch(of: /(?:[A-Za-z0-9\-._~:\/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*/) != nil
    }
}
