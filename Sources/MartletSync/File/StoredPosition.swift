import MartletEngine
import MartletSyncProtocol

/// The position of an element of a list, as it is stored in the table `martlet_positions`.
struct StoredPosition: Equatable {
    let position: ListPosition
    /// False if the element is a link to an object that is not in the file. The list then has no element at this
    /// position.
    var isShown = true

    static func encoded(_ positions: [StoredPosition]) -> [UInt8] {
        var writer = MessageWriter()
        writer.list(positions) { writer, stored in
            writer.blob(stored.position.bytes)
            writer.byte(stored.isShown ? 1 : 0)
        }
        return writer.bytes
    }

    static func decoded(_ bytes: [UInt8]) throws(MalformedMessage) -> [StoredPosition] {
        var reader = try MessageReader(bytes, limits: .forServiceMessages)
        return try reader.list { reader throws(MalformedMessage) in
            StoredPosition(position: try reader.position(), isShown: try reader.byte() == 1)
        }
    }
}

extension ListPositions {
    /// The stored positions of a list in ascending order. Empty if the file has no positions of the list.
    func stored(of row: RowID, _ property: PropertySchema) throws -> [StoredPosition] {
        try positions(of: row, property: property.name).map(StoredPosition.decoded) ?? []
    }

    func write(_ positions: [StoredPosition], of row: RowID, _ property: PropertySchema) throws {
        try write(StoredPosition.encoded(positions), of: row, property: property.name)
    }
}
