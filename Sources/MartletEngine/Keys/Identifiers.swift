/// The id of a row in its table. It does not change while the row exists, and does not depend on the position of the
/// row in a result.
package typealias ObjectKey = Int64

/// The number of an object type in the catalog of one file.
package typealias TableID = Int

/// The position of a property among the properties of its object type.
package typealias PropertyIndex = Int

/// The number of a committed state of one file.
package typealias Version = UInt64
