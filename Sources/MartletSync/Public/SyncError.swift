public import Martlet
import MartletSyncProtocol

/// An error or event that the client of a synchronized file reports to the `errorHandler` of its configuration.
public struct SyncError: Error, Sendable, CustomStringConvertible {
    /// The kind of an error. New versions of Martlet may add codes, so a `switch` needs a `default`.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The client cannot connect, or the connection has ended. The client tries to connect again after half a
        /// second to a minute, or later if the service asks for a longer delay.
        public static let connectionFailed = Code(rawValue: "connectionFailed")
        /// The program returned no token, or the service does not accept the token. The client asks the program for
        /// another token and tries to connect again, after half a second to a minute.
        public static let notAuthenticated = Code(rawValue: "notAuthenticated")
        /// The program is not compatible with the service. The client does not connect again until the program calls
        /// `SyncSession.reconnect()` or opens the file again after closing it. The file can still be read and written.
        public static let incompatible = Code(rawValue: "incompatible")
        /// The client downloads its data again, and keeps the changes that were not sent yet. Reasons: the database was
        /// restored from a backup or replaced, the client was not connected for too long, the rights of the user have
        /// changed, or an audit has found that the file differs from the database.
        public static let startsAgain = Code(rawValue: "startsAgain")
        /// The service has reverted changes of this client. `compensatingWriteInfo` names the objects. The file already
        /// contains the objects as they are in the database.
        public static let writesReverted = Code(rawValue: "writesReverted")
        /// The file could not be read or written. The client tries again later.
        public static let fileFailed = Code(rawValue: "fileFailed")
    }

    /// An object with changes that the service has reverted.
    // An `AnyRealmValue` is not `Sendable`, because it can contain an object. A primary key is never an object.
    public struct CompensatingWrite: @unchecked Sendable {
        /// The name of the type.
        public let objectType: String
        /// The primary key of the object: a value of the type that the property has in Swift.
        public let primaryKey: AnyRealmValue
        /// The reason why the service has reverted the changes, as a text for the developer.
        public let reason: String
    }

    public let code: Code
    /// A description of the error, for logs.
    public let message: String
    /// The objects with changes that the service has reverted; empty for other errors.
    public let compensatingWriteInfo: [CompensatingWrite]

    public var description: String { "\(message) (\(code.rawValue))" }
}

extension SyncError {
    init(_ report: ClientReport) {
        compensatingWriteInfo =
            if case .reverted(let changes) = report { changes.map(CompensatingWrite.init) } else { [] }
        (code, message) =
            switch report {
            case .connection(let error): (.connectionFailed, "the sync service cannot be reached: \(error)")
            case .token(let error): (.notAuthenticated, "the program returned no token: \(error)")
            case .file(let error): (.fileFailed, "\(error)")
            case .reverted(let changes):
                (.writesReverted, "the sync service has reverted changes of \(changes.count) objects")
            case .failure(let failure):
                switch failure.action {
                case .retry: (.connectionFailed, "the sync service has ended the connection: \(failure.message)")
                case .signIn: (.notAuthenticated, "the sync service refuses the user: \(failure.message)")
                case .stop: (.incompatible, "the sync service refuses the program: \(failure.message)")
                case .startAgain, .registerAgain:
                    (.startsAgain, "the data is loaded again, because \(failure.message)")
                }
            }
    }
}

extension SyncError.CompensatingWrite {
    init(_ change: RevertedChange) {
        objectType = change.type
        primaryKey = change.property.map { AnyRealmValue(primaryKey: change.primaryKey, of: $0) } ?? .none
        reason = change.message
    }
}
