package import MartletSQLite

/// The connection of a snapshot or a write transaction. Modules that depend on the engine get it from
/// `SnapshotHandle.read` and pass it to methods of the engine. These modules do not use its members.
package typealias StoreConnection = Connection
