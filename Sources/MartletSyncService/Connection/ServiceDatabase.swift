package import MartletSyncProtocol

/// The database work of all sessions of a service.
package protocol ServiceDatabase: Sendable {
    /// Runs a task. A failure is a result, too; it contains nothing that the user may not read.
    func run(_ task: ServiceTask, _ context: SessionContext) async -> ServiceTaskResult
}

/// What the database has to know about the session of a task.
package struct SessionContext: Sendable {
    /// Nil until the token was verified.
    package var user: AuthenticatedUser?
    /// Nil until the client was opened.
    package var client: ClientIdentity?
    /// The hash of the schema of the client.
    package var schemaHash: [UInt8] = []

    package init() {}
}
