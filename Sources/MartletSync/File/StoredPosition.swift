import MartletEngine
import MartletSyncProtocol

/// The position of an element of a list, as `martlet_positions` contains it.
struct StoredPosition: Equatable {
    let position: ListPosition
    /// False for a link to an object that is not in the file. The list has no element for it.
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
        var reader = try MessageReader(bytes, limits: .ofService)
        return try reader.list { reader throws(MalformedMessage) in
            StoredPosition(position: try reader.position(), isShown: try reader.byte() == 1)
        }
    }
}

extension ListPositions {
    /// The positions of a list in ascending order; empty if none are stored.
    func stored(of row: RowID, _ property: PropertySchema) throws -> [StoredPosition] {
        try positions(of: row, property: property.name).map(StoredPosition.decoded) ?? []
    }

    func write(_ positions: [StoredPosition], of row: RowID, _ property: PropertySchema) throws {
        try write(StoredPosition.encoded(positions), of: row, property: property.name)
    }
}
