package import MartletEngine
package import MartletSyncProtocol
package import MartletValues

/// The error of a wait that has exceeded its time limit.
package struct SyncTimeout: Error {}

/// An event that a client reports to the program.
package enum ClientReport: Sendable {
    /// The client could not connect, or the connection has failed. The client will try to connect again.
    case connection(any Error)
    /// The closure `SyncClient.Settings.token` has thrown this error instead of returning a token.
    case token(any Error)
    /// The service has ended the session.
    case failure(ServiceMessage.Failure)
    /// The file could not be read or written.
    case file(any Error)
    /// The service has reverted changes of these objects.
    case reverted([RevertedChange])
}

/// An object with changes that the service has reverted.
package struct RevertedChange: Sendable {
    package let type: String
    /// The stored form of the primary key.
    package let primaryKey: SQLValue
    /// The property that is the primary key. Nil if the client does not synchronize the type.
    package let property: PropertySchema?
    package let reason: RevertedObject.Reason
    package let message: String

    init(_ object: RevertedObject, _ schema: SyncSchema) {
        let type = schema[object.address.type]
        self.type = type?.name ?? ""
        primaryKey = object.address.key
        property = type.flatMap { type in type.primaryKey.map { type.properties[$0] } }
        reason = object.reason
        message = object.message
    }
}
