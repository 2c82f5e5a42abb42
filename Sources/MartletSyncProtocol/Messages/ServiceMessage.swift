/// Values of one object: the changed values if the client has the object, otherwise all values.
package struct SyncRow: Sendable, Hashable {
    package var address: ObjectAddress
    package var values: [ValuePath: SyncValue]

    package init(address: ObjectAddress, values: [ValuePath: SyncValue]) {
        self.address = address
        self.values = values
    }
}

/// An object with changes in an upload that the service has reverted, and the reason.
package struct RevertedObject: Sendable, Hashable {
    package enum Reason: UInt8, Sendable, CaseIterable {
        /// The user may not make this change.
        case notPermitted
        /// The change violates a constraint of the database, or a trigger of the database refuses it.
        case constraint
        /// A value does not fit its column.
        case invalidValue
    }

    package var address: ObjectAddress
    package var reason: Reason
    /// A description for the developer. It contains no data that the user may not read.
    package var message: String

    package init(address: ObjectAddress, reason: Reason, message: String) {
        self.address = address
        self.reason = reason
        self.message = message
    }
}

/// A message from the service to a client.
package enum ServiceMessage: Sendable, Hashable {
    package struct Welcome: Sendable, Hashable {
        package var identity: ClientIdentity
        package var epoch: String
        /// The time of the service, in milliseconds since 1970.
        package var milliseconds: UInt64
        /// The number of the newest upload of this client that the service has stored.
        package var storedUpload: UInt64
        /// The time stamp of the upload `storedUpload`, as the client has sent it; 0 if the service does not know it.
        package var storedTime: UInt64

        package init(
            identity: ClientIdentity, epoch: String, milliseconds: UInt64, storedUpload: UInt64, storedTime: UInt64 = 0
        ) {
            self.storedTime = storedTime
            self.identity = identity
            self.epoch = epoch
            self.milliseconds = milliseconds
            self.storedUpload = storedUpload
        }
    }

    /// The changes between the cursor of the client and a later cursor.
    package struct Changes: Sendable, Hashable {
        /// The position of the client after the last message of these changes.
        package var cursor: SyncCursor
        /// The number of the newest upload of this client that is visible at the cursor.
        package var acknowledgedUpload: UInt64
        package var rows: [SyncRow]
        /// The objects that were deleted in the database, or that no subscription contains any more.
        package var leaving: [ObjectAddress]
        /// False if more messages with parts of these changes follow. The client shows all parts together.
        package var isLast: Bool

        package init(
            cursor: SyncCursor, acknowledgedUpload: UInt64, rows: [SyncRow], leaving: [ObjectAddress], isLast: Bool
        ) {
            self.cursor = cursor
            self.acknowledgedUpload = acknowledgedUpload
            self.rows = rows
            self.leaving = leaving
            self.isLast = isLast
        }
    }

    /// The reason why the service ends the session, and the action that the client must take.
    package struct Failure: Sendable, Hashable {
        package enum Action: UInt8, Sendable, CaseIterable {
            /// Connect again after the delay.
            case retry
            /// Connect again with another token. The program may have to ask the user to sign in.
            case signIn
            /// Discard the position and load all data again. The objects remain until the data has arrived. The uploads
            /// are kept.
            case startAgain
            /// Do not connect again: the program is not compatible with the service.
            case stop
            /// Do the same as for `startAgain`, and also discard the identity of the client. The uploads are kept, but
            /// get new numbers.
            case registerAgain
        }

        package var action: Action
        package var message: String
        /// Milliseconds to wait before the next attempt.
        package var delayMilliseconds: UInt64

        package init(action: Action, message: String, delayMilliseconds: UInt64) {
            self.action = action
            self.message = message
            self.delayMilliseconds = delayMilliseconds
        }
    }

    case welcome(Welcome)
    /// A part of the data of a new set of subscriptions. `progress` is the received fraction in thousandths.
    case chunk(rows: SyncRows, leaving: [ObjectAddress], progress: UInt64)
    /// The service has sent all data of a set of subscriptions at the cursor.
    case complete(set: UInt64, SyncCursor)
    /// The service refused a set of subscriptions. The previous set stays in effect.
    case refused(set: UInt64, message: String)
    case changes(Changes)
    /// The answer to the `ClientMessage.mark` with the same number. The service first sends all changes that were
    /// committed before it received the message of the client.
    case mark(UInt64)
    /// The service stored an upload without its changes of these objects.
    case reverted(upload: UInt64, [RevertedObject])
    /// The token of the session expires soon. The client must send another token.
    case tokenDue
    /// The service ends the session.
    case failure(Failure)
    /// Asks the client for the checksums of its objects. The service sends this message directly after the changes up to
    /// this cursor, and only to clients that understand it: see `SyncProtocol.auditSubprotocol`.
    case audit(UInt64, SyncCursor)
}
