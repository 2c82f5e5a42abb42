package import MartletEngine
package import MartletSyncProtocol
package import MartletValues

/// The time of a wait has passed.
package struct SyncTimeout: Error {}

/// What a client reports to the program.
package enum ClientReport: Sendable {
    /// There is no connection, or it broke. The client connects again.
    case connection(any Error)
    /// The program did not get a token.
    case token(any Error)
    /// The service has ended the session.
    case failure(ServiceMessage.Failure)
    /// The file could not be read or written.
    case file(any Error)
    /// The service has reverted changes of these objects.
    case reverted([RevertedChange])
}

/// An object whose changes the service has reverted.
package struct RevertedChange: Sendable {
    package let type: String
    /// The stored form of the primary key.
    package let primaryKey: SQLValue
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
