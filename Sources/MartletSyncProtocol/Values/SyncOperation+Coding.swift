private enum OperationKind: UInt8 {
    case create, update, delete, add, insertElement, removeElement, insertMember, removeMember, setEntry, removeEntry
    case setElement
}

extension MessageWriter {
    package mutating func operation(_ operation: SyncOperation) {
        func begin(_ kind: OperationKind, _ path: ValuePath? = nil) {
            byte(kind.rawValue)
            address(operation.address)
            if let path { self.path(path) }
        }
        switch operation {
        case .create(_, let values):
            begin(.create)
            self.values(values)
        case .update(_, let values):
            begin(.update)
            self.values(values)
        case .delete: begin(.delete)
        case .add(_, let path, let amount):
            begin(.add, path)
            signed(amount)
        case .insertElement(_, let path, let position, let value):
            begin(.insertElement, path)
            blob(position.bytes)
            self.value(value)
        case .removeElement(_, let path, let position):
            begin(.removeElement, path)
            blob(position.bytes)
        case .setElement(_, let path, let position, let value):
            begin(.setElement, path)
            blob(position.bytes)
            self.value(value)
        case .insertMember(_, let path, let value):
            begin(.insertMember, path)
            self.value(value)
        case .removeMember(_, let path, let value):
            begin(.removeMember, path)
            self.value(value)
        case .setEntry(_, let path, let key, let value):
            begin(.setEntry, path)
            text(key)
            self.value(value)
        case .removeEntry(_, let path, let key):
            begin(.removeEntry, path)
            text(key)
        }
    }
}

extension MessageWriter {
    /// Writes `.create` or `.update` without creating a `SyncOperation`, which would be slower. The values must be in
    /// ascending order of their properties.
    package mutating func operation(
        isCreated: Bool, _ address: ObjectAddress, _ values: [(property: Int, value: SyncValue)]
    ) {
        begin(isCreated: isCreated, type: address.type)
        value(address.key)
        count(values.count)
        for (property, value) in values {
            path(property)
            self.value(value)
        }
    }

    /// Writes the beginning of `.create` or `.update`. The caller then writes the primary key, the number of
    /// properties, and the path and the value of each property.
    package mutating func begin(isCreated: Bool, type: Int) {
        byte((isCreated ? OperationKind.create : .update).rawValue)
        count(type)
    }

    /// Writes a path with one component.
    package mutating func path(_ property: Int) {
        count(1)
        count(property)
    }
}

extension MessageReader {
    package mutating func operation() throws(MalformedMessage) -> SyncOperation {
        let number = try byte()
        guard let kind = OperationKind(rawValue: number) else {
            throw MalformedMessage("an operation has the unknown kind \(number)")
        }
        let address = try address()
        switch kind {
        case .create: return .create(address, try values())
        case .update: return .update(address, try values())
        case .delete: return .delete(address)
        case .add: return .add(address, try path(), try signed())
        case .insertElement: return .insertElement(address, try path(), try position(), try syncValue())
        case .removeElement: return .removeElement(address, try path(), try position())
        case .setElement: return .setElement(address, try path(), try position(), try syncValue())
        case .insertMember: return .insertMember(address, try path(), try syncValue())
        case .removeMember: return .removeMember(address, try path(), try syncValue())
        case .setEntry: return .setEntry(address, try path(), key: try text(), try syncValue())
        case .removeEntry: return .removeEntry(address, try path(), key: try text())
        }
    }
}
