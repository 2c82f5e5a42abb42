package import MartletSyncProtocol
import Synchronization

/// Runs the database tasks of all sessions of a service.
package protocol ServiceDatabase: Sendable {
    /// Runs a task. If the task fails, the result is `failed`, with a message that the user may read.
    func run(_ task: ServiceTask, _ context: SessionContext) async -> ServiceTaskResult

    /// Called after the session has ended and its last task has finished.
    func ended(_ session: SessionID) async

    /// Called when a session ends because of an error outside of its tasks.
    func report(_ error: any Error)
}

extension ServiceDatabase {
    package func ended(_ session: SessionID) async {}

    package func report(_ error: any Error) {}
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

/// The properties of a session that its database tasks need.
package struct SessionContext: Sendable {
    package let session: SessionID
    /// Nil until the token has been verified.
    package var user: AuthenticatedUser?
    /// Nil until the client has been opened.
    package var client: ClientIdentity?
    /// The epoch of the database when the client was opened. The epoch identifies the history of the database.
    package var epoch: String?
    /// The number of the schema that was deployed when the client was opened.
    package var deployment = 0
    /// The hash of the schema with which the client was built.
    package var schemaHash: [UInt8] = []
    /// The number of the newest acknowledged upload, as the client has sent it when it connected.
    package var acknowledgedUpload: UInt64 = 0

    /// The claims of the user, as JSON.
    package var claims: String { user?.claims ?? "{}" }

    package init(_ session: SessionID = .next()) { self.session = session }
}
