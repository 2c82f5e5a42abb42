package import MartletSyncProtocol

/// One entry of the change log of the database: a change or a touch of one row.
package struct LogEntry: Sendable, Equatable {
    /// The upload that made a change.
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
    /// The upload that made the change; nil if another application made it.
    package var origin: Origin?
    /// True for a touch: an entry that changes nothing, and only shows that an upload names the object. A touch
    /// contains the values that the transaction of the upload has read. If another transaction changes the object at
    /// the same time, its entry can come before or after the touch. So readers use the values of a touch only if no
    /// other entry changes the object.
    /// if no other entry changes the object.
    package var isTouch: Bool
    /// The numbers of the collection properties of the object in which an element was changed. `old` and `new` do not
    /// contain collections.
    package var collections: Set<Int>
    /// True if the log does not contain the values of the object, because the user who changed an element of a
    /// collection could not read the object. The session then reads the current values from the database. They may be
    /// newer than this entry, which is correct, because each later change has its own entry.
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
