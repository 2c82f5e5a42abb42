package import MartletSyncProtocol

/// One change of one row, as the change log of the database contains it.
package struct LogEntry: Sendable, Equatable {
    /// Identifies the upload of a client that made the change.
    package struct Origin: Sendable, Hashable {
        package var client: UInt64
        package var upload: UInt64

        package init(client: UInt64, upload: UInt64) {
            self.client = client
            self.upload = upload
        }
    }

    package var address: ObjectAddress
    /// The values before the change; nil if the row did not exist.
    package var old: [ValuePath: SyncValue]?
    /// The values after the change; nil if the row was deleted.
    package var new: [ValuePath: SyncValue]?
    /// Nil if the change was not made by an upload but by another application.
    package var origin: Origin?
    /// True for an entry that changes nothing: it says that an upload names the object. Its values are those that the
    /// transaction of the upload has seen. A change that another transaction has made at the same time may have any place
    /// in the log relative to a touch, so the values of a touch count only if nothing else has changed the object.
    package var isTouch: Bool
    /// The collections of the object of which an element was changed, by the numbers of their properties. `old` and `new`
    /// do not contain collections.
    package var collections: Set<Int>
    /// True if an element of a collection was changed, and the log does not contain the values of the object, because the
    /// writer of the element could not read them. Reading them at a later cursor is enough: another entry shows each change
    /// of the values.
    package var isUnseen: Bool

    package init(
        address: ObjectAddress, old: [ValuePath: SyncValue]?, new: [ValuePath: SyncValue]?, origin: Origin?,
        isTouch: Bool = false, collections: Set<Int> = [], isUnseen: Bool = false
    ) {
        self.isTouch = isTouch
        self.collections = collections
        self.isUnseen = isUnseen
        self.address = address
        self.old = old
        self.new = new
        self.origin = origin
    }
}
