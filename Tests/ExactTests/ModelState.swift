/// The state of the model: all objects at one version, in plain Swift. The test compares the notifications of every
/// observer with this state.
///
/// Every field contains the time at which it was last written. From this time the test determines whether a field that
/// is reported as modified was written.
struct ModelState {
    /// A value, a link, or nothing.
    enum Value: Hashable, CustomStringConvertible {
        case none
        case text(String)
        case number(Double)
        /// A link to a row, by its serial number. A row that is deleted and created again has another serial number.
        case row(Int)
        /// Lists and maps in an `AnyRealmValue`.
        indirect case list([Value])
        indirect case map([String: Value])

        // Numbers are compared by their bits: 0 and -0 differ, and NaN equals NaN.
        static func == (left: Value, right: Value) -> Bool {
            switch (left, right) {
            case (.none, .none): true
            case (.text(let left), .text(let right)): left == right
            case (.number(let left), .number(let right)): left.bitPattern == right.bitPattern
            case (.row(let left), .row(let right)): left == right
            case (.list(let left), .list(let right)): left == right
            case (.map(let left), .map(let right)): left == right
            default: false
            }
        }

        func hash(into hasher: inout Hasher) {
            switch self {
            case .none: break
            case .text(let text): hasher.combine(text)
            case .number(let number): hasher.combine(number.bitPattern)
            case .row(let row): hasher.combine(row)
            case .list(let values): hasher.combine(values)
            case .map(let entries): hasher.combine(entries)
            }
        }

        // Every check uses this description. The default description of an enum would be slow.
        var description: String {
            switch self {
            case .none: "-"
            case .text(let text): "'\(text)'"
            case .number(let number): number.description
            case .row(let row): "#\(row)"
            case .list(let values): "\(values)"
            case .map(let entries): "\(entries.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })"
            }
        }

        /// The rows that the value links to, at any depth.
        var links: [Int] {
            switch self {
            case .row(let row): [row]
            case .list(let values): values.flatMap(\.links)
            case .map(let entries): entries.sorted { $0.key < $1.key }.flatMap(\.value.links)
            default: []
            }
        }

        /// Whether the value links to a row, at any depth.
        func holds(_ row: Int) -> Bool {
            switch self {
            case .row(row): true
            case .list(let values): values.contains { $0.holds(row) }
            case .map(let entries): entries.values.contains { $0.holds(row) }
            default: false
            }
        }

        /// The value with each link to the row replaced by `.none`.
        func without(_ row: Int) -> Value {
            switch self {
            case .row(row): .none
            case .list(let values): .list(values.map { $0.without(row) })
            case .map(let entries): .map(entries.mapValues { $0.without(row) })
            default: self
            }
        }
    }

    /// An element of a collection. `key` is used in maps only.
    struct Slot {
        var key = ""
        var value: Value
        var written: Int
    }

    enum Content {
        case single(Value)
        case many([Slot])
    }

    struct Field {
        var content: Content
        var written: Int
    }

    struct Row {
        let type: String
        var fields: [String: Field]
        /// The row that an embedded object belongs to.
        var owner: Int?
    }

    /// A counter that every change increases.
    private(set) var time = 0
    private var lastSerial = 0
    private(set) var rows: [Int: Row] = [:]
    /// For each row and inverse property: the time at which a link to the row was last added or removed.
    private(set) var inverseChangeTimes: [Int: [String: Int]] = [:]

    /// Deletions in the open write that a deletion rule forbids. Later changes in the write may make them valid.
    var denials: Set<Denial> = []

    let classes: Classes
    /// The object keys of rows; empty unless the classes are randomly generated.
    var keys: [Int: Int64] = [:]

    init(_ classes: Classes = .generated) { self.classes = classes }

    // MARK: Reading

    /// The primary keys and serial numbers of all `Node` rows, sorted by primary key.
    var nodes: [(id: Int, serial: Int)] {
        rows.compactMap { serial, row -> (id: Int, serial: Int)? in
            guard row.type == "Node", case .number(let id) = singleValue(serial, "id") else { return nil }
            return (Int(id), serial)
        }.sorted { $0.id < $1.id }
    }

    func node(_ id: Int) -> Int? { nodes.first { $0.id == id }?.serial }

    func id(_ serial: Int) -> Int? {
        if case .number(let id) = singleValue(serial, "id") { Int(id) } else { nil }
    }

    func singleValue(_ row: Int, _ name: String) -> Value {
        if case .single(let value)? = rows[row]?.fields[name]?.content { value } else { .none }
    }

    func link(_ row: Int, _ name: String) -> Int? {
        if case .row(let target) = singleValue(row, name) { target } else { nil }
    }

    func slots(_ row: Int, _ name: String) -> [Slot] {
        if case .many(let slots)? = rows[row]?.fields[name]?.content { slots } else { [] }
    }

    func text(_ row: Int, _ name: String) -> String? {
        if case .text(let text) = singleValue(row, name) { text } else { nil }
    }

    func number(_ row: Int, _ name: String) -> Double? {
        if case .number(let number) = singleValue(row, name) { number } else { nil }
    }

    /// The rows that a property links to. A row occurs once for each link, or only once if the property contains
    /// `AnyRealmValue` values.
    func targets(_ row: Int, _ name: String) -> [Int] {
        guard let type = rows[row]?.type, let property = classes.named(name, of: type) else { return [] }
        if case .inverse(let origin, let type) = property.kind { return origins(row, origin, type) }
        if property.isAny {
            var known: Set<Int> = []
            return values(row, name).flatMap(\.links).filter { known.insert($0).inserted }
        }
        return values(row, name).compactMap { if case .row(let target) = $0 { target } else { nil } }
    }

    private func values(_ row: Int, _ name: String) -> [Value] {
        switch rows[row]?.fields[name]?.content {
        case .single(let value): [value]
        case .many(let slots): slots.map(\.value)
        case nil: []
        }
    }

    /// The rows whose property links to a row, in the order of their keys. A row occurs once for each of its links.
    func origins(_ row: Int, _ name: String, _ type: String = "Node") -> [Int] {
        inKeyOrder(type).flatMap { origin in
            values(origin, name).filter { $0 == .row(row) }.map { _ in origin }
        }
    }

    /// All rows of a class, in the order of their keys.
    func inKeyOrder(_ type: String) -> [Int] {
        if type == "Node" { return nodes.map(\.serial) }
        return rows.keys.filter { rows[$0]?.type == type }.sorted { (keys[$0] ?? 0) < (keys[$1] ?? 0) }
    }

    // MARK: Writing

    mutating func add(_ type: String, _ values: [String: Value] = [:], owner: Int? = nil) -> Int {
        time += 1
        lastSerial += 1
        var fields: [String: Field] = [:]
        for property in classes.of(type) {
            switch property.kind {
            case .single:
                fields[property.name] = Field(
                    content: .single(values[property.name] ?? property.initial), written: time)
            case .many: fields[property.name] = Field(content: .many([]), written: time)
            case .inverse: break
            }
        }
        rows[lastSerial] = Row(type: type, fields: fields, owner: owner)
        return lastSerial
    }

    mutating func set(_ row: Int, _ name: String, _ value: Value) {
        let before = singleValue(row, name)
        time += 1
        denials.remove(.target(of: row, name))
        rows[row]?.fields[name] = Field(content: .single(value), written: time)
        for case .row(let target) in [before, value] { recordLinkChange(target, row, name) }
        if before != value { deleteIfEmbedded(before, row, name) }
    }

    /// Changes a collection. Records the changes of inverse properties, and deletes removed embedded objects.
    mutating func edit(_ row: Int, _ name: String, _ body: (inout [Slot], _ now: Int) -> Void) {
        let before = slots(row, name)
        var after = before
        time += 1
        body(&after, time)
        rows[row]?.fields[name] = Field(content: .many(after), written: time)
        let (old, new) = (Set(before.map(\.value)), Set(after.map(\.value)))
        func count(_ slots: [Slot], _ value: Value) -> Int { slots.count { $0.value == value } }
        for case .row(let target) in old.union(new) where count(before, .row(target)) != count(after, .row(target)) {
            recordLinkChange(target, row, name)
        }
        for value in old.subtracting(new) { deleteIfEmbedded(value, row, name) }
    }

    /// Records the time at which a link to `target` was added or removed, for the inverse of the property `name` of
    /// `origin`.
    private mutating func recordLinkChange(_ target: Int, _ origin: Int, _ name: String) {
        guard let type = rows[origin]?.type, let own = rows[target]?.type,
            let inverse = classes.inverse(of: name, type, in: own)
        else { return }
        inverseChangeTimes[target, default: [:]][inverse] = time
    }

    private mutating func deleteIfEmbedded(_ value: Value, _ row: Int, _ name: String) {
        guard case .row(let target) = value, let type = rows[row]?.type,
            classes.named(name, of: type)?.isEmbedded == true
        else { return }
        delete(target)
    }

    /// Deletes a row, its embedded objects, and the rows that rules delete with it. Links to deleted rows are removed.
    mutating func delete(_ serial: Int) {
        guard classes.hasRules else { return remove(serial) }
        let deleted = cascade(serial)
        recordDenials(deleted)
        deleted.sorted().forEach { remove($0) }
    }

    private mutating func remove(_ serial: Int) {
        guard let row = rows[serial] else { return }
        time += 1
        for property in classes.of(row.type) {
            for target in targets(serial, property.name) { recordLinkChange(target, serial, property.name) }
        }
        let owned = rows.keys.filter { rows[$0]?.owner == serial }
        rows[serial] = nil
        for other in rows.keys.sorted() {
            guard let type = rows[other]?.type else { continue }
            for property in classes.of(type) where values(other, property.name).contains(where: { $0.holds(serial) }) {
                removeLinks(to: serial, from: other, property)
            }
        }
        for child in owned.sorted() { remove(child) }
    }

    private mutating func removeLinks(to target: Int, from row: Int, _ property: Property) {
        time += 1
        guard case .many(let isMap) = property.kind else {
            let rest = singleValue(row, property.name).without(target)
            rows[row]?.fields[property.name] = Field(content: .single(rest), written: time)
            return
        }
        var slots = slots(row, property.name)
        if isMap || property.isAny && !property.isSet {
            for index in slots.indices where slots[index].value.holds(target) {
                slots[index].value = slots[index].value.without(target)
                slots[index].written = time
            }
        } else {
            slots.removeAll { $0.value == .row(target) }
        }
        rows[row]?.fields[property.name] = Field(content: .many(slots), written: time)
    }
}
