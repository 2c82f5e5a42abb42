package import MartletSyncProtocol
import Synchronization

/// The database work of all sessions of a service.
package protocol ServiceDatabase: Sendable {
    /// Runs a task. If the task fails, the result is `failed`, whose message contains nothing that the user may not
    /// read.
    func run(_ task: ServiceTask, _ context: SessionContext) async -> ServiceTaskResult

    /// The session has ended, and no task of it is running.
    func ended(_ session: SessionID) async
}

extension ServiceDatabase {
    package func ended(_ session: SessionID) async {}
}

/// Identifies a session within the process.
package struct SessionID: Sendable, Hashable {
    private static let last = Mutex<UInt64>(0)

    package let number: UInt64

    package init(number: UInt64) { self.number = number }

    /// An identity that no other session of the process has.
    package static func next() -> SessionID {
        SessionID(
            number: last.withLock {
                $0 += 1
                return $0
            })
    }
}

/// What the database has to know about the session of a task.
package struct SessionContext: Sendable {
    package let session: SessionID
    /// Nil until the token was verified.
    package var user: AuthenticatedUser?
    /// Nil until the client was opened.
    package var client: ClientIdentity?
    /// The history of the database when the client was opened.
    package var epoch: String?
    /// Identifies the schema that was deployed when the client was opened.
    package var deployment = 0
    /// The hash of the schema of the client.
    package var schemaHash: [UInt8] = []

    /// The claims of the user, as JSON.
    package var claims: String { user?.claims ?? "{}" }

    package init(_ session: SessionID = .next()) { self.session = session }
}
