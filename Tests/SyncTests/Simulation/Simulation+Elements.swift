import MartletSyncProtocol
import MartletValues
import ModelTesting

// Random changes of elements of collections.
extension Simulation {
    // Returns a random change of one element. A position in this operation is only one random byte. When the client
    // executes the operation, it replaces the byte by the position of an element, or by a new position for an
    // insertion.
    mutating func elementOperation(_ address: ObjectAddress) -> SyncOperation {
        let isPlain = kind == .values
        let list = ValuePath(
            isPlain ? 30 : [Sample.tags, Sample.owners, Sample.stops][Int.random(in: 0..<3, using: &random)])
        let byte = UInt8.random(in: 1...100, using: &random)
        let position = ListPosition([byte]) ?? ListPosition.between(nil, nil, client: 0)[0]
        let value =
            list == ValuePath(Sample.owners)
            ? .link(owner()) : list == ValuePath(Sample.stops) ? stop() : number(0...9)
        let map = ValuePath(isPlain ? 32 : chance(2) ? Sample.scores : Sample.named)
        let set = ValuePath(isPlain ? 31 : Sample.marks)
        let entry = map == ValuePath(Sample.named) ? stop() : number(0...3)
        let key = ["a", "b"][Int.random(in: 0..<2, using: &random)]
        return switch Int.random(in: 0..<10, using: &random) {
        case 0, 1, 2, 9: .insertElement(address, list, position, value)
        case 3: .removeElement(address, list, position)
        case 4: .setElement(address, list, position, value)
        case 5: .insertMember(address, set, number(0...3))
        case 6: .removeMember(address, set, number(0...3))
        case 7: .setEntry(address, map, key: key, chance(3) ? .null : entry)
        default: .removeEntry(address, map, key: key)
        }
    }

    // Returns an embedded object with collections. It contains at most one link. See `anyValue`.
    mutating func stop() -> SyncValue {
        let place = Int.random(in: 0..<4, using: &random)
        let link = SyncValue.link(owner())
        let x = Int64.random(in: 0...9, using: &random)
        let marks = (0..<Int.random(in: 0..<3, using: &random)).map { _ in Int64.random(in: 0...2, using: &random) }
        return Sample.stop(
            x, near: place == 0 ? link : .null, y: chance(2) ? x : nil,
            extra: place == 1 ? .list([number(0...3), link]) : number(0...3), marks: marks,
            nears: place == 2 ? [link] : [],
            scores: chance(2) ? [MapEntry(key: "a", value: .null), MapEntry(key: "b", value: number(0...3))] : [],
            points: marks)
    }

    // Returns a change of a value inside an embedded object with collections.
    mutating func changeInsideStop(_ address: ObjectAddress) -> SyncOperation {
        guard case .embedded(let values) = stop() else { return .delete(address) }
        let property = [0, 2, 4, 6, 7][Int.random(in: 0..<5, using: &random)]
        return .update(address, [ValuePath([Sample.stop, property]): values[property]])
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
