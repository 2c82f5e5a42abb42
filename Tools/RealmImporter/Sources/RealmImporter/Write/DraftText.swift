/// The unformatted text of a schema file, with the locations of draft items.
struct DraftText {
    private(set) var text = ""
    private var marks: [(range: Range<Int>, item: DraftItem)] = []

    mutating func appendLine(_ content: String = "") { text += content + "\n" }

    /// Records the text that `body` writes as the location of an item. The text can contain locations of other items.
    mutating func mark(_ item: DraftItem, _ body: (inout DraftText) -> Void) {
        let start = text.utf8.count
        body(&self)
        marks.append((start..<text.utf8.count, item))
    }

    /// Appends text without a line feed.
    mutating func append(_ content: String) { text += content }

    /// - Returns: the innermost item at an offset, and whether the item begins there. An item begins with its name.
    func item(at offset: Int) -> (item: DraftItem, isName: Bool)? {
        let mark = marks.filter { $0.range.contains(offset) }.min { $0.range.count < $1.range.count }
        return mark.map { ($0.item, $0.range.lowerBound == offset) }
    }
}
