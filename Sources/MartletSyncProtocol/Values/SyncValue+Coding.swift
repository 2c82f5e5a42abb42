package import MartletValues

/// The first byte of an encoded value.
private enum ValueKind: UInt8 {
    case null, integer, real, text, blob, link, embedded, list, map
}

extension MessageWriter {
    private mutating func kind(_ kind: ValueKind) { byte(kind.rawValue) }

    package mutating func value(_ value: SQLValue) {
        switch value {
        case .null: kind(.null)
        case .integer(let number):
            kind(.integer)
            signed(number)
        case .real(let number):
            kind(.real)
            word(number.bitPattern)
        case .text(let content):
            kind(.text)
            text(content)
        case .blob(let bytes):
            kind(.blob)
            blob(bytes)
        }
    }

    package mutating func value(_ value: UnownedValue) {
        switch value {
        case .null: kind(.null)
        case .integer(let number):
            kind(.integer)
            signed(number)
        case .real(let number):
            kind(.real)
            word(number.bitPattern)
        case .text(let bytes):
            kind(.text)
            blob(bytes)
        case .blob(let bytes):
            kind(.blob)
            blob(bytes)
        }
    }

    package mutating func value(_ value: SyncValue) {
        switch value {
        case .scalar(let scalar): self.value(scalar)
        case .link(let target):
            kind(.link)
            address(target)
        case .embedded(let values):
            kind(.embedded)
            list(values) { $0.value($1) }
        case .list(let values):
            kind(.list)
            list(values) { $0.value($1) }
        case .map(let entries):
            kind(.map)
            list(entries) { writer, entry in
                writer.text(entry.key)
                writer.value(entry.value)
            }
        }
    }

    package mutating func address(_ address: ObjectAddress) {
        count(address.type)
        value(address.key)
    }

    package mutating func path(_ path: ValuePath) {
        count(path.count)
        count(path.first)
        for property in path.inner { count(property) }
    }

    /// Writes values in the order of their paths.
    package mutating func values(_ values: [ValuePath: SyncValue]) {
        list(values.sorted { $0.key < $1.key }) { writer, entry in
            writer.path(entry.key)
            writer.value(entry.value)
        }
    }
}

extension MessageReader {
    package mutating func value() throws(MalformedMessage) -> SQLValue {
        guard case .scalar(let scalar) = try syncValue(depth: 0) else {
            throw MalformedMessage("expected a value that is neither a link nor an embedded object")
        }
        return scalar
    }

    package mutating func syncValue() throws(MalformedMessage) -> SyncValue { try syncValue(depth: limits.depth) }

    private mutating func syncValue(depth: Int) throws(MalformedMessage) -> SyncValue {
        let number = try byte()
        guard let kind = ValueKind(rawValue: number) else {
            throw MalformedMessage("a value has the unknown kind \(number)")
        }
        switch kind {
        case .null: return .null
        case .integer: return .scalar(.integer(try signed()))
        case .real: return .scalar(.real(Double(bitPattern: try word())))
        case .text: return .scalar(.text(try text()))
        case .blob: return .scalar(.blob(try blob()))
        case .link, .embedded, .list, .map:
            guard depth > 0 else {
                throw MalformedMessage("a link, embedded object, list or map is not allowed here")
            }
            return try composed(kind, depth: depth - 1)
        }
    }

    private mutating func composed(_ kind: ValueKind, depth: Int) throws(MalformedMessage) -> SyncValue {
        switch kind {
        case .embedded: .embedded(try list { reader throws(MalformedMessage) in try reader.syncValue(depth: depth) })
        case .list: .list(try list { reader throws(MalformedMessage) in try reader.syncValue(depth: depth) })
        case .map: .map(try entries(depth: depth))
        default: .link(try address())
        }
    }

    private mutating func entries(depth: Int) throws(MalformedMessage) -> [MapEntry] {
        var last: String?
        return try list { reader throws(MalformedMessage) in
            let key = try reader.text()
            if let last, !last.utf8.lexicographicallyPrecedes(key.utf8) {
                throw MalformedMessage("the keys of a map are not in increasing order")
            }
            last = key
            return MapEntry(key: key, value: try reader.syncValue(depth: depth))
        }
    }

    package mutating func address() throws(MalformedMessage) -> ObjectAddress {
        let type = try index()
        let key: SQLValue = try value()
        guard key != .null else { throw MalformedMessage("a primary key is null") }
        return ObjectAddress(type: type, key: key)
    }

    package mutating func path() throws(MalformedMessage) -> ValuePath {
        let count = try count()
        guard count > 0, count <= limits.depth else { throw MalformedMessage("a path has \(count) components") }
        if count == 1 { return ValuePath(try index()) }
        var properties: [Int] = []
        for _ in 0..<count { properties.append(try index()) }
        return ValuePath(properties)
    }

    package mutating func values() throws(MalformedMessage) -> [ValuePath: SyncValue] {
        var values: [ValuePath: SyncValue] = [:]
        try forEachValue { values[$0] = $1 }
        return values
    }

    /// Reads values, and calls the closure with each of them, in the order of their paths.
    package mutating func forEachValue(_ each: (ValuePath, SyncValue) -> Void) throws(MalformedMessage) {
        var last: ValuePath?
        for _ in 0..<(try count()) {
            let path = try path()
            if let last, !(last < path) { throw MalformedMessage("paths are not in increasing order") }
            last = path
            each(path, try syncValue())
        }
    }

    package mutating func position() throws(MalformedMessage) -> ListPosition {
        guard let position = ListPosition(try blob()) else {
            throw MalformedMessage("a position of a list is empty, too long, or ends with zero")
        }
        return position
    }
}
