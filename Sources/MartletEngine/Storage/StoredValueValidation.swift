package import MartletSQLite
package import MartletValues

// Validation of stored values against the schema. The engine writes only valid values, so an invalid value means that
// the file is damaged.

extension PropertySchema {
    /// True if a column of the property, or an element of its collection, may have the value.
    package func accepts(_ value: SQLValue) -> Bool {
        if value == .null { return isNullValidInFile || isAny }
        return element.accepts(value)
    }

    /// The position of the first invalid element. Nil if all elements are valid. In a map, keys and values alternate.
    package func firstInvalidPosition(_ elements: [SQLValue]) -> Int? {
        guard kind == .map else { return firstInvalidValue(elements) }
        if !elements.count.isMultiple(of: 2) { return elements.count - 1 }
        return elements.indices.first { position in
            guard position.isMultiple(of: 2) else { return !accepts(elements[position]) }
            if case .text = elements[position] { return false }
            return true
        }
    }

    // Lists can be long, so the common case of each type is checked first.
    private func firstInvalidValue(_ elements: [SQLValue]) -> Int? {
        switch element {
        case .link, .embedded, .intEnum, .scalar(.int), .scalar(.int64):
            elements.firstIndex { if case .integer = $0 { false } else { !accepts($0) } }
        case .stringEnum, .scalar(.string): elements.firstIndex { if case .text = $0 { false } else { !accepts($0) } }
        case .scalar(.double), .scalar(.date):
            elements.firstIndex { if case .real = $0 { false } else { !accepts($0) } }
        default: elements.firstIndex { !accepts($0) }
        }
    }

    private var isNullValidInFile: Bool { isOptional || (isLink && (kind == .single || kind == .map)) }
}

extension ElementType {
    /// True for a value of this type. For an enum, a raw value is valid even if no case has it.
    package func accepts(_ value: SQLValue) -> Bool {
        switch (self, value) {
        case (.intEnum, .integer), (.link, .integer), (.embedded, .integer), (.stringEnum, .text): true
        case (.scalar(let scalar), _): scalar.accepts(value)
        default: false
        }
    }
}

extension ScalarType {
    fileprivate func accepts(_ value: SQLValue) -> Bool {
        switch (self, value) {
        case (.bool, .integer(let number)): number == 0 || number == 1
        case (.int, .integer), (.int64, .integer), (.string, .text), (.data, .blob): true
        case (.int8, .integer(let number)): Int8(exactly: number) != nil
        case (.int16, .integer(let number)): Int16(exactly: number) != nil
        case (.int32, .integer(let number)): Int32(exactly: number) != nil
        case (.float, .real(let number)): number.isInfinite || !Float(number).isInfinite
        case (.double, .real), (.date, .real): true
        // Collections store special floating-point values as blobs of their bits.
        case (.float, .blob(let bytes)), (.double, .blob(let bytes)), (.date, .blob(let bytes)): bytes.count == 8
        case (.uuid, .blob(let bytes)): bytes.count == 16
        case (.objectId, .blob(let bytes)): bytes.count == 12
        case (.decimal128, .blob(let bytes)): DecimalNumber(bytes: bytes) != nil
        case (.any, _): AnyValue.isWellFormed(value)
        default: false
        }
    }
}

/// A stored value that does not match the schema, with its row and property.
package struct DamagedValue: Sendable {
    private let place: String
    private let finding: String

    /// The error for the file that contains the value.
    package func error(path: String) -> EngineError {
        EngineError(
            .corrupt, path: path,
            "\(place) \(finding): the file is damaged; it was left as it is; restore a backup, "
                + "or correct the row with the program 'sqlite3' while no Realm of the file is open")
    }

    /// A value that does not have the property's type.
    package init(
        _ type: String, _ property: PropertySchema, _ key: ObjectKey, holds value: SQLValue, at position: Int? = nil
    ) {
        self.init(type, property, key, holds: Self.text(value), at: position)
    }

    private init(_ type: String, _ property: PropertySchema, _ key: ObjectKey, holds text: String, at position: Int?) {
        place = Self.place(type, property, key)
        let position = position.map { " at position \($0)" } ?? ""
        finding = "holds \(text)\(position), where the schema expects \(property.expectation)"
    }

    /// A text that is not valid UTF-8.
    package init(notUTF8In type: String, _ property: PropertySchema, _ key: ObjectKey) {
        self.init(type, property, key, holds: "a text that is not UTF-8", at: nil)
    }

    /// A link to a row that does not exist.
    package init(
        _ type: String, _ property: PropertySchema, _ key: ObjectKey, linksTo row: ObjectKey, of target: String
    ) {
        place = Self.place(type, property, key)
        finding = "links to the row \(row) of '\(target)', which does not exist"
    }

    private static func place(_ type: String, _ property: PropertySchema, _ key: ObjectKey) -> String {
        "'\(type).\(property.name)' in the row with the key \(key)"
    }

    // The first 60 Unicode scalars of a text. Control characters are escaped, because a NUL would end the message.
    private static func escaped(_ text: String) -> String {
        let scalars = text.unicodeScalars
        return scalars.prefix(60).map { scalar in
            scalar.value < 32 || scalar.value == 127 ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }.joined() + (scalars.count > 60 ? "…" : "")
    }

    private static func text(_ value: SQLValue) -> String {
        switch value {
        case .null: return "nothing"
        case .integer(let number): return "the number \(number)"
        case .real(let number): return "the number \(number)"
        case .text(let text): return "the text '\(escaped(text))'"
        case .blob(let bytes):
            let shown = bytes.prefix(20).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
            let count = bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"
            return bytes.isEmpty ? count : "\(count) (\(shown)\(bytes.count > 20 ? "…" : ""))"
        }
    }
}

extension PropertySchema {
    /// The type of one value of the property, for messages.
    fileprivate var expectation: String {
        guard isCollection else { return typeDescription }
        var single = typeDescription.drop { $0 != "<" }.dropFirst()
        single = single.dropLast()
        return String(single)
    }
}

extension DatabaseSchema {
    /// The links in an element of a collection of `AnyRealmValue`, each with the number of its occurrences.
    ///
    /// - Throws: the error of `DamagedValue` if the element is damaged.
    func links(in element: SQLValue, of id: CollectionID, path: String) throws(EngineError) -> [AnyLink: Int] {
        do {
            return try AnyLink.counts(in: element)
        } catch {
            let type = self[id.table].type
            throw DamagedValue(type.name, type.properties[id.property], id.owner, holds: element).error(path: path)
        }
    }
}

// MARK: Searching for damage

/// Searches a file for values that do not match the schema, to describe the damage in a message after a read has
/// failed.
package struct DamageSearch {
    private let schema: DatabaseSchema
    private let connection: Connection

    package init(_ schema: DatabaseSchema, _ connection: Connection) {
        self.schema = schema
        self.connection = connection
    }

    /// The first invalid value of a property.
    ///
    /// - Parameter key: the key of the only row to check. Nil to check all rows.
    package func value(of property: PropertyIndex, in table: TableID, key: ObjectKey? = nil) throws -> DamagedValue? {
        let layout = schema[table].layout
        guard let column = layout.column(of: property) else { return nil }
        let described = schema[table].type.properties[property]
        let special = layout.hasSpecials ? TableLayout.specialColumn : "NULL"
        let statement = try connection.statement(
            "SELECT \(layout.keyColumn), \(column.name), \(special) FROM \(layout.table) "
                + "WHERE ?1 IS NULL OR \(layout.keyColumn) = ?1")
        statement.bind(key.map { SQLValue.integer($0) } ?? .null, at: 1)
        while try statement.step() {
            let value = statement.value(1)
            let isText = described.element == .scalar(.string) || described.element == .stringEnum
            let isUTF8 = statement.validText(1) != nil
            if described.accepts(value), !isText || isUTF8 || value == .null { continue }
            if value == .null, described.element.isFloating, !statement.isNull(2),
                FloatingSpecials.bits(statement.blob(2), property) != nil
            {
                continue
            }
            defer { statement.reset() }
            return damaged(described, schema[table].type.name, statement.integer(0), statement)
        }
        return nil
    }

    private func damaged(
        _ property: PropertySchema, _ type: String, _ key: ObjectKey, _ statement: Statement
    ) -> DamagedValue {
        let value = statement.value(1)
        if case .text = value, property.element.accepts(value) { return DamagedValue(notUTF8In: type, property, key) }
        return DamagedValue(type, property, key, holds: value)
    }

    /// The first link to a missing row. `key` is the key of the missing row, and `target` is its table.
    package func link(to key: ObjectKey, in target: TableID) throws -> DamagedValue? {
        let name = schema[target].type.name
        for incoming in schema[target].incoming {
            let source = schema[incoming.table]
            let property = source.type.properties[incoming.property]
            if let holder = try holder(of: key, source.layout, property) {
                return DamagedValue(source.type.name, property, holder, linksTo: key, of: name)
            }
        }
        guard try AnyLinkIndex.exists(connection),
            let holder = try AnyLinkIndex(connection).sources(of: AnyLink(target, key)).first,
            let source = schema.tables[holder.table], source.type.properties.indices.contains(holder.property)
        else { return nil }
        return DamagedValue(
            source.type.name, source.type.properties[holder.property], holder.owner, linksTo: key, of: name)
    }

    /// The first value of an `AnyRealmValue` property that contains `link`. No object type has the number in this link.
    package func anyLink(_ link: AnyLink) throws -> DamagedValue? {
        for table in schema.tables.values.sorted(by: { $0.id < $1.id }) {
            for property in table.type.properties where property.isAny {
                guard let owner = try holder(of: link, table.layout, property) else { continue }
                return DamagedValue(
                    table.type.name, property, owner, linksTo: link.key, of: "type number \(link.table)")
            }
        }
        return nil
    }

    private func holder(of link: AnyLink, _ layout: TableLayout, _ property: PropertySchema) throws -> ObjectKey? {
        func holds(_ value: SQLValue) -> Bool { (try? AnyLink.counts(in: value))?[link] != nil }
        guard let column = layout.column(of: property.index) else {
            return try firstChunk(of: layout.collection(of: property.index)) { _, elements in
                elements?.contains(where: holds) == true
            }
        }
        let statement = try connection.statement(
            "SELECT \(layout.keyColumn), \(column.name) FROM \(layout.table) WHERE typeof(\(column.name)) = 'blob'")
        defer { statement.reset() }
        while try statement.step() {
            if holds(statement.value(1)) { return statement.integer(0) }
        }
        return nil
    }

    private func holder(of key: ObjectKey, _ layout: TableLayout, _ property: PropertySchema) throws -> ObjectKey? {
        if let column = layout.column(of: property.index) {
            return try connection.integer(
                "SELECT \(layout.keyColumn) FROM \(layout.table) WHERE \(column.name) = ?1 LIMIT 1", [.integer(key)])
        }
        let collection = layout.collection(of: property.index)
        if let targets = collection.targetTable,
            let owner = try connection.integer(
                "SELECT owner FROM \(targets) WHERE target = ?1 LIMIT 1", [.integer(key)])
        {
            return owner
        }
        // The elements are searched too, because the damaged link may be in the elements and not in the table of
        // targets.
        return try firstChunk(of: collection) { _, elements in elements?.contains(.integer(key)) == true }
    }

    /// The first collection that cannot be read.
    package func collection() throws -> DamagedValue? {
        for table in schema.tables.values.sorted(by: { $0.id < $1.id }) {
            for collection in table.layout.collections {
                var stored = SQLValue.null
                let owner = try firstChunk(of: collection) { value, elements in
                    stored = value
                    return elements == nil
                }
                guard let owner else { continue }
                return DamagedValue(
                    table.type.name, table.type.properties[collection.property], owner, holds: stored)
            }
        }
        return nil
    }

    /// The owner of the first chunk for which `isSought` returns true. The closure receives the stored bytes of the
    /// chunk and its elements. The elements are nil if the bytes cannot be decoded.
    private func firstChunk(
        of collection: TableLayout.Collection, where isSought: (SQLValue, [SQLValue]?) -> Bool
    ) throws -> ObjectKey? {
        let statement = try connection.statement("SELECT owner, count, elements FROM \(collection.chunkTable)")
        while try statement.step() {
            let (count, value) = (statement.integer(1), statement.value(2))
            var elements: [SQLValue]?
            if case .blob(let bytes) = value {
                elements = bytes.withUnsafeBytes { bytes in
                    Int(exactly: count).flatMap { ElementCodec.decode(bytes, count: $0) }
                }
            }
            guard isSought(value, elements) else { continue }
            let owner = statement.integer(0)
            statement.reset()
            return owner
        }
        return nil
    }
}
