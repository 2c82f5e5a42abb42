/// A schema file before it is laid out, and what of the draft stands where in it.
struct DraftText {
    private(set) var text = ""
    private var places: [(range: Range<Int>, item: DraftItem)] = []

    mutating func line(_ content: String = "") { text += content + "\n" }

    /// What is written in the body is found again by its place; the innermost wins.
    mutating func mark(_ item: DraftItem, _ body: (inout DraftText) -> Void) {
        let start = text.utf8.count
        body(&self)
        places.append((start..<text.utf8.count, item))
    }

    /// Text that does not end its line.
    mutating func part(_ content: String) { text += content }

    /// - Returns: what stands there, and whether it is its name, which comes first.
    func item(at offset: Int) -> (item: DraftItem, isName: Bool)? {
        let place = places.filter { $0.range.contains(offset) }.min { $0.range.count < $1.range.count }
        return place.map { ($0.item, $0.range.lowerBound == offset) }
    }
}
