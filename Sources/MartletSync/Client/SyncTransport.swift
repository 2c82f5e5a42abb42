package import Foundation
package import MartletSyncProtocol

/// Connects a client to the service.
package protocol SyncTransport: Sendable {
    /// The hash that identifies a schema to the service.
    func hash(of schema: AgreedSchema) -> [UInt8]

    /// Connects, and transfers messages in both directions until one side ends the connection or the task is cancelled.
    ///
    /// - Parameters:
    ///   - connected: called when the connection is open.
    ///   - output: the messages to send. The end of the sequence ends the connection.
    ///   - received: called with each received message. The transport reads the next message only after `received` has
    ///     returned.
    /// - Throws: an error if the transport cannot connect, or if the connection fails.
    func run(
        _ url: URL, connected: @escaping @Sendable () async -> Void, output: AsyncStream<ClientMessage>,
        received: @escaping @Sendable (ServiceMessage) async -> Void
    ) async throws
}
