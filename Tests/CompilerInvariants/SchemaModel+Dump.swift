public import MartletSchema

extension SchemaModel {
    /// Returns the model as text for tests and debugging. The text does not depend on the machine: it contains no
    /// source ranges and no absolute paths.
    public func dump() -> String {
        var lines: [String] = []
        for file in files {
            lines.append("file \(file.path)")
            for declaration in file.declarations {
                switch declaration {
                case .enumeration(let model): model.dump(into: &lines)
                case .object(let model): model.dump(into: &lines)
                case .projection(let model): model.dump(into: &lines)
                }
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }
}

private func dumpDocumentation(_ text: String?, indent: String, into lines: inout [String]) {
    guard let text else { return }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        lines.append("\(indent)## \(line)")
    }
}

private func deprecationText(_ deprecation: DeprecationModel?) -> String {
    guard let deprecation else { return "" }
    return deprecation.message.map { " deprecated=\(quoted($0))" } ?? " deprecated"
}

private func quoted(_ text: String) -> String {
    text.debugDescription
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

extension EnumModel {
    fileprivate func dump(into lines: inout [String]) {
        dumpDocumentation(documentation, indent: "  ", into: &lines)
        var head = "  enum \(name) \(raw.rawValue)"
        if let unknown { head += " unknown=\(unknown.value)" }
        if let renamedFrom { head += " renamedFrom=\(renamedFrom.value)" }
        lines.append(head + deprecationText(deprecation))
        for item in cases {
            dumpDocumentation(item.documentation, indent: "    ", into: &lines)
            switch item.rawValue {
            case .int(let value): lines.append("    case \(item.name) \(value)")
            case .string(let value): lines.append("    case \(item.name) \(quoted(value))")
            }
        }
    }
}

extension ObjectModel {
    fileprivate func dump(into lines: inout [String]) {
        dumpDocumentation(documentation, indent: "  ", into: &lines)
        var head = "  \(isEmbedded ? "embedded" : "object") \(name)"
        if let renamedFrom { head += " renamedFrom=\(renamedFrom.value)" }
        lines.append(head + deprecationText(deprecation))
        if let primaryKey { lines.append("    primaryKey \(primaryKey.value)") }
        for list in unique {
            lines.append("    unique \(list.map(\.value).joined(separator: " "))")
        }
        if sync.mode != .none { lines.append("    sync \(sync.mode.rawValue)") }
        for kind in RuleKind.allCases {
            if let rule = sync.rules[kind] { lines.append("    \(kind.rawValue) \(rule.text)") }
        }
        for property in properties { property.dump(keyword: "property", into: &lines) }
        for property in ignored { property.dump(keyword: "ignored", into: &lines) }
        for entry in keyPaths {
            dumpDocumentation(entry.documentation, indent: "    ", into: &lines)
            let text = entry.paths.map(\.dumpText).joined(separator: ", ")
            lines.append("    keypath \(entry.name) = \(entry.isList ? "[\(text)]" : text)")
        }
    }
}

extension PropertyModel {
    fileprivate func dump(keyword: String, into lines: inout [String]) {
        dumpDocumentation(documentation, indent: "    ", into: &lines)
        var line = "    \(keyword) \(name) \(type.dumpText)"
        if let defaultValue { line += " = \(defaultValue.dumpText)" }
        if isIndexed { line += " index" }
        if isFullText { line += " fullText" }
        if onDelete != .nullify { line += " onDelete=\(onDelete.rawValue)" }
        if deleteRule != .nullify { line += " deleteRule=\(deleteRule.rawValue)" }
        if let renamedFrom { line += " renamedFrom=\(renamedFrom.value)" }
        if sync.isLocal { line += " sync=none" }
        if let merge = sync.merge { line += " merge=\(merge.rawValue)" }
        if let write = sync.write { line += " write=(\(write.text))" }
        lines.append(line + deprecationText(deprecation))
    }
}

extension PropertyTypeModel {
    fileprivate var dumpText: String {
        let prefix =
            switch value {
            case .scalar: ""
            case .enumeration(_, let raw): "enum:\(raw.rawValue):"
            case .link: "link:"
            case .embedded: "embedded:"
            }
        let element = prefix + value.name + (isOptional ? "?" : "")
        return switch kind {
        case .single: element
        case .list: "List<\(element)>"
        case .set: "Set<\(element)>"
        case .map: "Map<\(element)>"
        case .linkingObjects: text
        }
    }
}

extension DefaultModel {
    fileprivate var dumpText: String {
        switch self {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .floating(let value): "\(value)"
        case .string(let value): quoted(value)
        case .data(let bytes): "data:\(hexadecimal(bytes))"
        case .date(let seconds): "date:\(seconds)"
        case .now: "now"
        case .uuid(let bytes): "uuid:\(hexadecimal(bytes))"
        case .newUUID, .newObjectId: "new"
        case .objectId(let bytes): "objectId:\(hexadecimal(bytes))"
        case .decimal128(let text): "decimal:\(text)"
        case .enumCase(let name): ".\(name)"
        }
    }
}

extension KeyPathModel {
    fileprivate var dumpText: String {
        var text = "\(self.text): \(type.dumpText)"
        if isOptional { text += " optional" }
        if let collectionSegment { text += " collection@\(collectionSegment)" }
        if isWritable { text += " writable" }
        return text
    }
}

extension ProjectionModel {
    fileprivate func dump(into lines: inout [String]) {
        dumpDocumentation(documentation, indent: "  ", into: &lines)
        lines.append("  projection \(name) of \(root.value)" + deprecationText(deprecation))
        for label in labels {
            dumpDocumentation(label.documentation, indent: "    ", into: &lines)
            lines.append("    label \(label.name) = \(label.path.dumpText)")
        }
    }
}
