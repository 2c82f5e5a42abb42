import MartletSyncProtocol
import MartletValues
import ModelTesting

// Random changes of elements of collections.
extension Simulation {
    // A position in this operation is one random byte. The file of the client replaces this position by the position of
    // an element.
    mutating func elementOperation(_ address: ObjectAddress) -> SyncOperation {
        let isPlain = kind == .values
        let list = ValuePath(isPlain ? 30 : chance(3) ? Sample.tags : Sample.owners)
        let byte = UInt8.random(in: 1...100, using: &random)
        let position = ListPosition([byte]) ?? ListPosition.between(nil, nil, client: 0)[0]
        let value = list == ValuePath(Sample.owners) ? .link(owner()) : number(0...9)
        let (set, map) = (ValuePath(isPlain ? 31 : Sample.marks), ValuePath(isPlain ? 32 : Sample.scores))
        let key = ["a", "b"][Int.random(in: 0..<2, using: &random)]
        return switch Int.random(in: 0..<10, using: &random) {
        case 0, 1, 2, 9: .insertElement(address, list, position, value)
        case 3: .removeElement(address, list, position)
        case 4: .setElement(address, list, position, value)
        case 5: .insertMember(address, set, number(0...3))
        case 6: .removeMember(address, set, number(0...3))
        case 7: .setEntry(address, map, key: key, chance(3) ? .null : number(0...3))
        default: .removeEntry(address, map, key: key)
        }
    }

    // Changes an element in a transaction of another application.
    mutating func changeElement() {
        let address = ObjectAddress(type: 0, key: .integer(Int64.random(in: 1...4, using: &random)))
        let operation = elementOperation(address)
        guard let values = server.rows[address], let element = operation.element else { return }
        if case .insertElement(_, _, _, .link(let target)) = operation, server.rows[target] == nil { return }
        if case .setElement(_, _, _, .link(let target)) = operation, server.rows[target] == nil { return }
        guard case .blob(let bytes) = element.key else { return server.change(operation) }
        let known = values.elements(at: element.path).map(\.position)
        if case .insertElement = operation {
            let position = ListPosition.between(known.last, nil, client: 0, upload: UInt64(server.version))[0]
            return server.change(operation.at(position))
        }
        if !known.isEmpty { server.change(operation.at(known[Int(bytes[0]) % known.count])) }
    }
}
