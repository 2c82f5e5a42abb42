public import MartletSchema

/// A declaration of the new schema that may be a renamed declaration of the old schema.
public struct RenameCandidate: Hashable, Sendable {
    public let oldName: String
    public let newName: String
    public let nameSpan: SourceSpan
    /// The range of a property's type and default; nil for a class or an enum. The edit replaces this range if the
    /// property has the short form `name: String`.
    let valueSpan: SourceSpan?

    init(_ old: ObjectModel, _ new: ObjectModel) {
        self.init(old.name, new.name, new.nameSpan, nil)
    }

    init(_ old: EnumModel, _ new: EnumModel) {
        self.init(old.name, new.name, new.nameSpan, nil)
    }

    init(_ old: PropertyModel, _ new: PropertyModel) {
        self.init(old.name, new.name, new.nameSpan, new.defaultSpan.map { new.typeSpan.union($0) } ?? new.typeSpan)
    }

    private init(_ oldName: String, _ newName: String, _ nameSpan: SourceSpan, _ valueSpan: SourceSpan?) {
        self.oldName = oldName
        self.newName = newName
        self.nameSpan = nameSpan
        self.valueSpan = valueSpan
    }

    /// The edit that adds `renamedFrom` to the declaration; nil if the syntax of the declaration cannot be edited.
    func edit(in sources: [SourceText]) -> Edit? {
        guard let source = sources.first(where: { $0.file == nameSpan.file }) else { return nil }
        let line = source.lineRange(source.lineIndex(at: nameSpan.start))
        var place = nameSpan.end
        guard place < line.upperBound, source.bytes[place] == UInt8(ascii: ":") else { return nil }
        place = source.skippingBlanks(from: place + 1, to: line.upperBound)
        guard place < line.upperBound, source.bytes[place] != UInt8(ascii: "#") else { return editBelow(in: source) }
        if source.bytes[place] == UInt8(ascii: "{") {
            let inside = source.skippingBlanks(from: place + 1, to: line.upperBound)
            guard inside < line.upperBound, source.bytes[inside] != UInt8(ascii: "}") else { return nil }
            return Edit(SourceSpan(file: source.file, start: place + 1, end: place + 1), "renamedFrom: \(oldName), ")
        }
        return editShortForm(at: place, line: line, in: source)
    }

    /// The edit that inserts `renamedFrom` as the first line of a block, with the indentation of the existing first
    /// line.
    private func editBelow(in source: SourceText) -> Edit? {
        let line = source.lineIndex(at: nameSpan.start)
        guard line + 1 < source.lineCount else { return nil }
        let depth = nameSpan.start - source.lineRange(line).lowerBound
        for below in (line + 1)..<source.lineCount {
            let range = source.lineRange(below)
            let start = source.skippingBlanks(from: range.lowerBound, to: range.upperBound)
            guard start < range.upperBound, source.bytes[start] != UInt8(ascii: "#") else { continue }
            guard start - range.lowerBound > depth else { return nil }
            let indentation = String(repeating: " ", count: start - range.lowerBound)
            let lineEnd = String(
                decoding: source.bytes[source.lineRange(line).upperBound..<source.lineStarts[line + 1]], as: UTF8.self)
            let place = source.lineStarts[line + 1]
            return Edit(
                SourceSpan(file: source.file, start: place, end: place),
                "\(indentation)renamedFrom: \(oldName)\(lineEnd)")
        }
        return nil
    }

    /// The edit from `name: String = ""` to `name: {type: String = "", renamedFrom: callName}`.
    private func editShortForm(at place: Int, line: Range<Int>, in source: SourceText) -> Edit? {
        guard let valueSpan, valueSpan.start == place, valueSpan.end <= line.upperBound else { return nil }
        let text = source.text(of: valueSpan)
        // Text with one of these characters could have another meaning inside braces, so it is not edited.
        guard !text.contains(where: { ",{}[]#:'\\".contains($0) }) else { return nil }
        return Edit(valueSpan, "{type: \(text), renamedFrom: \(oldName)}")
    }
}

extension SourceText {
    fileprivate func skippingBlanks(from start: Int, to end: Int) -> Int {
        var place = start
        while place < end, bytes[place] == UInt8(ascii: " ") { place += 1 }
        return place
    }
}
