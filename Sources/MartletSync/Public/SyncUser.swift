public import Foundation
import Martlet

/// A user of the sync service, with a closure that returns a token. The token proves the user's identity.
///
/// ```swift
/// let user = SyncUser(id: "ada") { try await myServer.token(for: "ada") }
/// ```
public struct SyncUser: Sendable {
    /// Identifies the user in this program. A file belongs to the user who opens it first: opening it as another user
    /// throws `Realm.Error.wrongUser`.
    public let id: String

    let token: @Sendable () async throws -> String

    /// Creates a user.
    ///
    /// - Parameters:
    ///   - id: the value of the claim that identifies the user in the token, by default the claim `sub`. Must not be
    ///     empty.
    ///   - token: returns a JSON Web Token that the service accepts. The client calls this closure on a background
    ///     thread, before each connection and one minute before the token expires. If the closure throws, the client
    ///     tries again later.
    public init(id: String, token: @escaping @Sendable () async throws -> String) {
        self.id = id
        self.token = token
    }

    /// A folder for the files of this user: `sync/<id>` inside the folder of the default file. Opening a file in the
    /// folder creates the folder.
    ///
    /// The name of the folder is the percent-encoded id of the user. Only ASCII letters, digits, `-` and `_` are not
    /// encoded.
    public var folder: URL {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-_")
        let name = id.addingPercentEncoding(withAllowedCharacters: allowed) ?? id
        let parent = Realm.Configuration.defaultFolder ?? URL(fileURLWithPath: ".", isDirectory: true)
        return parent.appendingPathComponent("sync", isDirectory: true)
            .appendingPathComponent(name, isDirectory: true)
    }
}
