/// The id of a row in its table, which does not change while the row exists. It is not the position of the row.
package typealias ObjectKey = Int64

/// The number of an object type in one file's catalog.
package typealias TableID = Int

/// The position of a property among the properties of its object type.
package typealias PropertyIndex = Int

/// The number of a committed state of one file.
package typealias Version = UInt64
