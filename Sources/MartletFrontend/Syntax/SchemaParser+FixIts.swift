import MartletSchema

/// Stores edits in `fixIts`. An edit removes an entry or adds `renamedFrom`. Lint rules offer these edits as fixes
/// later.
extension SchemaParser {
    /// Stores the ranges to delete if the entry of `key` is removed. A lint rule can look up these ranges by the range
    /// of the key or by the range of the value.
    mutating func recordRemoval(of key: String, in mapping: YAMLMapping) {
        guard let index = mapping.entries.firstIndex(where: { $0.key.text == key }),
            let removal = removal(of: index, in: mapping)
        else { return }
        fixIts.removals[mapping.entries[index].key.span] = removal
        fixIts.removals[mapping.entries[index].value.span] = removal
    }

    /// Stores, for each name in the list of `key`, the ranges to delete if the name is removed. If the list has only
    /// one name, these ranges also contain the key of the list.
    mutating func recordListRemovals(of key: String, in mapping: YAMLMapping) {
        guard let index = mapping.entries.firstIndex(where: { $0.key.text == key }) else { return }
        let entry = mapping.entries[index]
        guard case .sequence(let sequence) = entry.value else {
            recordRemoval(of: key, in: mapping)
            return
        }
        let spans = sequence.items.map(\.span)
        if spans.count == 1 {
            let keySpan = SourceSpan(file: source.file, start: entry.key.span.start, end: entry.key.span.end + 1)
            let all =
                sequence.isFlow
                ? removal(of: index, in: mapping)
                : blockRemoval(of: keySpan).flatMap { head in blockRemoval(of: spans[0]).map { head + $0 } }
            fixIts.removals[spans[0]] = all
            return
        }
        for (index, span) in spans.enumerated() {
            fixIts.removals[span] = sequence.isFlow ? flowRemoval(of: index, in: spans) : blockRemoval(of: span)
        }
    }

    /// Stores the edit that removes `renamedFrom`. If the mapping has no `renamedFrom` and the name violates the naming
    /// convention, stores the edit that adds `renamedFrom` before the first key.
    mutating func recordRenamedFromEdits(_ name: Spanned<String>, in mapping: YAMLMapping, isType: Bool) {
        recordRemoval(of: "renamedFrom", in: mapping)
        guard let first = mapping.entries.first?.key.span, violatesNamingConvention(name.value, isType: isType),
            !mapping.entries.contains(where: { $0.key.text == "renamedFrom" })
        else { return }
        let line = source.lineIndex(at: first.start)
        var end = ", "
        if !mapping.isFlow {
            let range = source.lineRange(line)
            let indentation = source.bytes[range.lowerBound..<first.start]
            guard indentation.allSatisfy({ $0 == Byte.space }), line + 1 < source.lineCount else { return }
            let lineBreak = source.bytes[range.upperBound..<source.lineStarts[line + 1]]
            end = String(decoding: lineBreak + indentation, as: UTF8.self)
        }
        fixIts.renamedFromAdditions[name.span] = [Edit(first.beginning, "renamedFrom: \(name.value)\(end)")]
    }

    /// Stores the edit from `name: Int` to `name: {type: Int, renamedFrom: …}`. No edit is stored if the name follows
    /// the naming convention, or if the text of the type would have another meaning inside braces.
    mutating func recordRenamedFromEdits(_ name: Spanned<String>, ofShort value: YAMLNode) {
        guard violatesNamingConvention(name.value, isType: false), let scalar = value.scalar, scalar.isPlain,
            !scalar.isEmpty, scalar.contentStart != nil,
            !scalar.text.utf8.contains(where: { ",[]{}\"'#:".utf8.contains($0) })
        else { return }
        fixIts.renamedFromAdditions[name.span] = [
            Edit(scalar.span.beginning, "{type: "), Edit(scalar.span.ending, ", renamedFrom: \(name.value)}"),
        ]
    }

    /// Whether the lint rule for names can suggest another name, because a property name is not `lowerCamelCase` or a
    /// type name is not `UpperCamelCase`.
    private func violatesNamingConvention(_ name: String, isType: Bool) -> Bool {
        name.utf8.contains(Byte.underscore) || name.utf8.first?.isUppercase != isType
    }

    /// The fix that removes a key that is not allowed in `mapping`. The array is empty if the key cannot be removed.
    func removalFixes(of key: String, in mapping: YAMLMapping) -> [Fix] {
        let index = mapping.entries.firstIndex { $0.key.text == key }
        let spans = index.flatMap { removal(of: $0, in: mapping) }
        return spans.map { [Fix("remove '\(key)'", .suggested, $0.map { Edit($0, "") })] } ?? []
    }

    // MARK: Entries

    /// The range to delete if a key and its value are removed; nil if it is not possible to delete them as one range.
    func removal(of key: String, in mapping: YAMLMapping) -> SourceSpan? {
        let index = mapping.entries.firstIndex { $0.key.text == key }
        guard let removal = index.flatMap({ removal(of: $0, in: mapping) }), removal.count == 1 else { return nil }
        return removal[0]
    }

    private func removal(of index: Int, in mapping: YAMLMapping) -> [SourceSpan]? {
        let spans = mapping.entries.map { $0.key.span.union($0.value.span) }
        return mapping.isFlow ? flowRemoval(of: index, in: spans) : blockRemoval(of: spans[index])
    }

    /// The range to delete if an entry of a flow collection is removed: the entry and the comma before it. For the
    /// first entry, the range contains the comma after the entry instead. The result is nil if there is no other entry,
    /// or if a comment lies between the entry and the neighboring entry.
    private func flowRemoval(of index: Int, in spans: [SourceSpan]) -> [SourceSpan]? {
        let entry = spans[index]
        let all: SourceSpan
        let gap: Range<Int>
        if index > 0 {
            gap = spans[index - 1].end..<entry.start
            all = SourceSpan(file: entry.file, start: gap.lowerBound, end: entry.end)
        } else if spans.count > 1 {
            gap = entry.end..<spans[1].start
            all = SourceSpan(file: entry.file, start: entry.start, end: gap.upperBound)
        } else {
            return nil
        }
        return source.bytes[gap].contains(Byte.hash) ? nil : [all]
    }

    /// The range to delete if an entry of a block collection is removed: the line of the entry. If a comment follows
    /// the entry on this line, the range ends before the comment. The result is nil if the entry has several lines, or
    /// if the line contains anything else.
    private func blockRemoval(of entry: SourceSpan) -> [SourceSpan]? {
        let line = source.lineIndex(at: entry.start)
        let range = source.lineRange(line)
        guard entry.end <= range.upperBound else { return nil }
        let before = source.bytes[range.lowerBound..<entry.start]
        guard before.allSatisfy({ $0.isBlank || $0 == Byte.dash }) else { return nil }
        let after = source.bytes[entry.end..<range.upperBound]
        guard let next = after.firstIndex(where: { !$0.isBlank }) else {
            let end = line + 1 < source.lineCount ? source.lineStarts[line + 1] : range.upperBound
            return [SourceSpan(file: entry.file, start: range.lowerBound, end: end)]
        }
        guard source.bytes[next] == Byte.hash else { return nil }
        let dash = before.firstIndex(of: Byte.dash) ?? entry.start
        return [SourceSpan(file: entry.file, start: dash, end: next)]
    }
}
