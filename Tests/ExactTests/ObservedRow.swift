/// The values of one row that an observer sees, and the times at which they were written.
///
/// If the values differ between two states, the observer must be notified. It may be notified only if the times differ.
struct ObservedRow: Equatable {
    private(set) var values = ""
    private(set) var times = ""

    /// Reads the properties that the key paths reach from a row. Nil means all properties of the row and of objects up
    /// to three links away.
    init(_ model: ModelState, _ row: Int, _ keyPaths: [String]?) {
        if keyPaths == nil { addDeep(model, row, levels: 4) }
        for path in keyPaths ?? [] { add(model, row, path.split(separator: ".").map(String.init)[...]) }
    }

    /// Reads the properties that the key paths reach from several rows.
    init(_ model: ModelState, _ rows: [Int], _ keyPaths: [String]?) {
        for row in rows {
            let view = ObservedRow(model, row, keyPaths)
            values += " #\(row)" + view.values
            times += " #\(row)" + view.times
        }
    }

    private mutating func add(_ model: ModelState, _ row: Int, _ path: ArraySlice<String>) {
        guard let name = path.first, let type = model.rows[row]?.type else { return }
        if name == "*" {
            let rest = path.dropFirst()
            if rest.allSatisfy({ $0 == "*" }) { for property in model.classes.of(type) { add(model, row, property) } }
            if rest.isEmpty { return }
            for property in model.classes.of(type) where Self.hasPath(model, type, [property.name] + rest) {
                add(model, row, [property.name] + rest)
            }
            return
        }
        guard let property = model.classes.named(name, of: type) else { return }
        add(model, row, property)
        let rest = path.dropFirst()
        if rest.isEmpty { return }
        for target in model.targets(row, name) { add(model, target, rest) }
    }

    /// Whether a path that begins at a class is valid. After an `AnyRealmValue` property, every path is valid.
    static func hasPath(_ model: ModelState, _ type: String, _ path: ArraySlice<String>) -> Bool {
        guard let name = path.first, name != "*" else { return true }
        guard let property = model.classes.named(name, of: type) else { return false }
        if path.count == 1 || property.isAny { return true }
        let target = if case .inverse(_, let origin) = property.kind { Optional(origin) } else { property.target }
        return target.map { hasPath(model, $0, path.dropFirst()) } ?? false
    }

    private mutating func add(_ model: ModelState, _ row: Int, _ property: Property) {
        values += " "
        values += property.name
        times += " "
        times += property.name
        if case .inverse = property.kind {
            for target in model.targets(row, property.name) { Self.append(target, to: &values) }
            Self.append(model.inverseChangeTimes[row]?[property.name] ?? 0, to: &times)
            return
        }
        guard let field = model.rows[row]?.fields[property.name] else { return }
        Self.append(field.written, to: &times)
        switch field.content {
        case .single(let value): values += value.description
        case .many(let slots):
            for slot in slots {
                values += ","
                values += slot.key
                values += slot.value.description
            }
        }
    }

    private static func append(_ number: Int, to text: inout String) {
        text += " "
        text += number.description
    }

    // Visits the rows in breadth-first order, each row once.
    private mutating func addDeep(_ model: ModelState, _ row: Int, levels: Int) {
        var seen: Set<Int> = [row]
        var level = [row]
        for _ in 0..<levels {
            var next: [Int] = []
            for row in level {
                values += " #\(row)"
                guard let type = model.rows[row]?.type else { continue }
                for property in model.classes.of(type) {
                    if case .inverse = property.kind { continue }
                    add(model, row, property)
                    for target in model.targets(row, property.name) where seen.insert(target).inserted {
                        next.append(target)
                    }
                }
            }
            level = next
        }
    }
}

/// An element of a collection, as an observer sees it.
struct Item {
    /// The object or value, without the properties of the object.
    let identity: ModelState.Value
    /// The key of an element of a map; empty for other elements.
    var key = ""
    /// The time at which the element was last written at its position.
    var written = 0
    let view: ObservedRow?
    /// The text of the element. The live element must have the same text.
    let text: String

    func isSame(as other: Item) -> Bool { identity == other.identity && view?.values == other.view?.values }

    /// Whether the element was written after the state of `other`, even with an equal value.
    func isWritten(since other: Item) -> Bool {
        Self.allowsExtraChanges || written != other.written || view?.times != other.view?.times
    }

    /// Whether an observer may report elements as modified that were not written.
    @TaskLocal static var allowsExtraChanges = false
}

extension ModelState {
    func item(_ row: Int, _ keyPaths: [String]?) -> Item {
        Item(identity: .row(row), view: ObservedRow(self, row, keyPaths), text: shown(.row(row)))
    }

    func item(_ slot: Slot, _ keyPaths: [String]?) -> Item {
        var view: ObservedRow?
        if case .row(let row) = slot.value { view = ObservedRow(self, row, keyPaths) }
        return Item(identity: slot.value, key: slot.key, written: slot.written, view: view, text: shown(slot.value))
    }

    /// An element of a collection of `AnyRealmValue`, with the rows that it links to.
    func anyItem(_ slot: Slot, _ keyPaths: [String]?) -> Item {
        Item(
            identity: .list([slot.value]), key: slot.key, written: slot.written,
            view: ObservedRow(self, slot.value.links, keyPaths), text: shown(slot.value))
    }

    /// A value as text: nodes by their primary key, embedded objects by their name.
    func shown(_ value: Value) -> String {
        switch value {
        case .list(let values): "[" + values.map(shown).joined(separator: ", ") + "]"
        case .map(let entries):
            "{" + entries.sorted { $0.key < $1.key }.map { "\($0.key): \(shown($0.value))" }.joined(separator: ", ")
                + "}"
        case .none: "nil"
        case .text(let text): text
        case .number(let number): "\(number)"
        case .row(let row): id(row).map { "\($0)" } ?? text(row, "name") ?? "gone"
        }
    }
}
