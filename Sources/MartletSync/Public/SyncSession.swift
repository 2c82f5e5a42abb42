public import Foundation
public import Martlet
import MartletEngine

/// The connection of a synchronized file to the service.
///
/// The client connects when the program opens the file. If several processes open the file, only one of them is
/// connected, but all of them can call `wait(for:timeout:)`. A session can be used on any thread. It does not keep the
/// file open.
public struct SyncSession: Sendable {
    let client: SyncClient

    /// Whether the client is connected to the service.
    public enum ConnectionState: Sendable {
        case disconnected, connecting, connected
    }

    /// Whether the client tries to keep a connection.
    public enum State: Sendable {
        /// The client is connected, or tries to connect.
        case active
        /// The program has suspended the client.
        case inactive
        /// The service has refused the program as incompatible. The client does not try to connect.
        case invalid
    }

    /// A direction of the synchronization.
    public enum Direction: Sendable {
        case upload, download
    }

    /// The connection of this process to the service; `.disconnected` if another process is connected.
    public var connectionState: ConnectionState { ConnectionState(client.phase) }

    /// Whether the client tries to keep a connection.
    public var state: State { client.isStopped ? .invalid : client.isSuspended ? .inactive : .active }

    /// Ends the connection. The client does not connect again until `resume()` or `reconnect()` is called. Changes that
    /// are committed meanwhile are recorded, and sent over the next connection.
    ///
    /// The connection has ended when `connectionState` is `.disconnected`. Messages that the client was sending at the
    /// time of the call may still arrive.
    public func suspend() { client.suspend() }

    /// Connects again after `suspend()`.
    public func resume() { client.resume() }

    /// Connects at once, without waiting for the time of the next attempt. Also connects if the client is suspended, or
    /// if the service has refused the program.
    public func reconnect() { client.resume() }

    /// Waits for the changes of one direction.
    ///
    /// - Parameters:
    ///   - direction: `.upload` to wait until the service has stored all changes that were committed in the file before
    ///     the call; `.download` to wait until the file contains everything that was committed in the database before
    ///     the call.
    ///   - timeout: the longest time to wait, in seconds; nil or zero for no limit.
    /// - Throws: `Realm.Error.syncTimedOut` after the timeout; `CancellationError` if the task is cancelled; errors of
    ///   the file; for downloads also `Realm.Error.subscriptionRefused` if the service has refused the subscriptions.
    public func wait(for direction: Direction, timeout: TimeInterval? = nil) async throws {
        switch direction {
        case .upload: try await client.waitForUpload(timeout: timeout)
        case .download: try await client.waitForDownload(set: nil, timeout: timeout)
        }
    }

    /// The fraction of the data of new subscriptions that has been received, between 0 and 1. The stream begins with
    /// the current value and may skip intermediate values. It ends when the task that reads the stream is cancelled, or
    /// when the file is closed.
    public var downloadProgress: AsyncStream<Double> {
        AsyncStream { continuation in
            let task = Task { [client] in
                var last: Double?
                for await _ in client.wakeUps.stream() where client.progress != last {
                    last = client.progress
                    continuation.yield(client.progress)
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// The connection states, beginning with the current state. The stream ends when the task that reads the stream is
    /// cancelled, or when the file is closed.
    public var connectionStates: AsyncStream<ConnectionState> {
        AsyncStream { continuation in
            let task = Task { [client] in
                var last: SyncClient.Phase?
                for await _ in client.wakeUps.stream() where client.phase != last {
                    last = client.phase
                    continuation.yield(ConnectionState(client.phase))
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

extension SyncSession.ConnectionState {
    fileprivate init(_ phase: SyncClient.Phase) {
        self =
            switch phase {
            case .disconnected: .disconnected
            case .connecting: .connecting
            case .connected: .connected
            }
    }
}

extension Realm {
    /// The connection of this Realm's file to the service; nil if the Realm is not synchronized.
    public var syncSession: SyncSession? { syncClient.map(SyncSession.init) }

    var syncClient: SyncClient? { coordinator.currentAttachment as? SyncClient }

    func requireSyncClient() -> SyncClient {
        guard let syncClient else { trapNotSynchronized() }
        return syncClient
    }
}
