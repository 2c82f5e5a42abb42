import MartletFrontend
import MartletSchema

/// Writes flow lists and flow mappings. If a list or mapping does not fit on one line, each of its items begins on a
/// separate line.
extension LayoutWriter {
    mutating func writeFlow(_ node: YAMLNode, indent: Int) {
        let start = lines.continuesLine ? lines.width + 1 : lines.isEmpty ? 0 : indent
        if let text = oneLine(node), start + text.unicodeScalars.count <= Self.maximumWidth {
            lines.begin(text, indent: indent)
            return
        }
        let brackets = brackets(of: node)
        let inner = brackets.open.isEmpty ? indent : indent + Self.step
        if !brackets.open.isEmpty {
            lines.begin(brackets.open, indent: indent)
            lines.markBlockStart()
        }
        switch node {
        case .sequence(let sequence):
            for (index, item) in sequence.items.enumerated() {
                beginItem(at: item.span.start, indent: inner)
                writeItem(item, indent: inner)
                if index < sequence.items.count - 1 { lines.append(",") }
            }
        case .mapping(let mapping):
            for (index, entry) in mapping.entries.enumerated() {
                beginItem(at: entry.key.span.start, indent: inner)
                writeEntry(entry, indent: inner)
                if index < mapping.entries.count - 1 { lines.append(",") }
            }
        case .scalar, .broken: break
        }
        // If the last line ends with a comment, the closing bracket is written on the next line. On the same line, the
        // bracket would be part of the comment.
        let end = node.span.end
        if !brackets.close.isEmpty, hasComments(node.span.start..<end) {
            writeComments(before: end - 1, indent: inner, keepsBlank: false)
            lines.begin(brackets.close, indent: inner)
        } else {
            lines.append(brackets.close)
        }
    }

    private mutating func beginItem(at offset: Int, indent: Int) {
        if !lines.continuesLine { writeComments(before: offset, indent: indent) }
    }

    private mutating func writeItem(_ item: YAMLNode, indent: Int) {
        switch item {
        case .scalar(let scalar): writeToken(scalar, indent: indent)
        default: writeFlow(item, indent: indent)
        }
    }

    private mutating func writeEntry(_ entry: YAMLEntry, indent: Int) {
        writeToken(entry.key, indent: indent)
        guard !entry.value.isEmptyScalar else { return }
        lines.append(":")
        if hasComments(entry.key.span.end..<entry.value.span.start) {
            writeComments(before: entry.value.span.start, indent: indent + Self.step)
            writeItem(entry.value, indent: indent + Self.step)
        } else {
            lines.continueLine()
            writeItem(entry.value, indent: indent)
        }
    }

    /// The text of the node on one line; nil if the node contains comments or multi-line scalars.
    private func oneLine(_ node: YAMLNode) -> String? {
        guard !hasComments(node.span.start..<node.span.end) else { return nil }
        let brackets = brackets(of: node)
        var parts: [String] = []
        switch node {
        case .scalar(let scalar): return oneLine(scalar)
        case .broken: return nil
        case .sequence(let sequence):
            for item in sequence.items {
                guard let text = oneLine(item) else { return nil }
                parts.append(text)
            }
        case .mapping(let mapping):
            for entry in mapping.entries {
                guard let key = oneLine(entry.key), let value = oneLine(entry.value) else { return nil }
                parts.append(entry.value.isEmptyScalar ? key : "\(key): \(value)")
            }
        }
        return brackets.open + parts.joined(separator: ", ") + brackets.close
    }

    private func oneLine(_ scalar: YAMLScalar) -> String? {
        let texts = source.lineTexts(of: scalar.span)
        return texts.count == 1 ? texts[0] : nil
    }

    /// The brackets of a flow node. They are empty for a mapping without braces. Such a mapping is an element of a flow
    /// list and has one entry.
    private func brackets(of node: YAMLNode) -> (open: String, close: String) {
        if case .sequence = node { return ("[", "]") }
        let hasBraces = node.span.start < source.bytes.count && source.bytes[node.span.start] == UInt8(ascii: "{")
        return hasBraces ? ("{", "}") : ("", "")
    }
}
