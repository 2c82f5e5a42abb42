package import MartletSQLite

/// The connection of a snapshot or a write transaction. Modules above the engine pass it from `SnapshotHandle.read` to the engine,
/// and do not use its members.
package typealias StoreConnection = Connection
