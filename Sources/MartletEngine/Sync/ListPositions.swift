package import MartletSQLite
import MartletValues

/// The positions of the elements of synchronized lists. `Documentation/SyncProtocol.md` defines these positions. The
/// engine stores the positions of one list as bytes that it does not interpret.
package struct ListPositions {
    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// The positions of one list. Nil if no positions are stored for it.
    package func positions(of row: RowID, property: String) throws -> [UInt8]? {
        let value = try connection.value(
            "SELECT positions FROM martlet_positions WHERE type = ?1 AND owner = ?2 AND property = ?3",
            [.integer(Int64(row.table)), .integer(row.key), .text(property)])
        return if case .blob(let bytes)? = value { bytes } else { nil }
    }

    package func write(_ positions: [UInt8], of row: RowID, property: String) throws {
        try connection.run(
            "INSERT OR REPLACE INTO martlet_positions VALUES (?1, ?2, ?3, ?4)",
            [.integer(Int64(row.table)), .integer(row.key), .text(property), .blob(positions)])
    }

    /// Removes the positions of all lists of a row that was deleted.
    package func remove(of row: RowID) throws {
        try connection.run(
            "DELETE FROM martlet_positions WHERE type = ?1 AND owner = ?2",
            [.integer(Int64(row.table)), .integer(row.key)])
    }
}
