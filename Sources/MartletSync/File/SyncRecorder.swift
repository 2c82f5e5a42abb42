package import MartletEngine
package import MartletSyncProtocol
import MartletValues

#if MARTLET_SEEDED_BUGS
    import Synchronization
#endif

/// Writes the changes of each local transaction to the outbox of the file, in the same transaction.
///
/// Every process that writes to the file records its own changes, even if another process is connected to the service.
/// So the previous entry of the outbox may come from another process. For each entry, the recorder reads all state from
/// the file, under the write lock.
///
/// Thread safety: the recorder has no state.
package final class SyncRecorder: OutboxRecorder {
    private let schema: SyncSchema
    private let path: String
    private let wall: @Sendable () -> UInt64

    /// - Parameter wall: returns the wall clock of this machine, in milliseconds since 1970.
    package init(_ schema: SyncSchema, path: String, wall: @escaping @Sendable () -> UInt64) {
        self.schema = schema
        self.path = path
        self.wall = wall
    }

    package func record(_ changes: CommittingChanges) throws {
        try changes.forgetUnresolvedLinks()
        let changed = try changes.changedObjects()
        if changed.isEmpty { return }
        let tables = SyncTables(changes.connection)
        let head = try tables.outboxHead(numbering: schema.numbering)
        var clock = HybridClock(
            last: HybridTimestamp(rawValue: head.clock), offsetMilliseconds: head.clockOffset)
        let time = clock.next(wall: wall()).rawValue
        // Positions of list elements contain the number of the client. Before the service has assigned a number to the
        // client, positions contain the time stamp instead. Two clients without numbers can create equal positions only
        // in objects that both clients create with the same primary key.
        var builder = OperationBuilder(schema, changes, client: head.client ?? time, upload: head.lastNumber + 1)
        guard let bytes = try builder.encodedOperations(of: changed) else { return }
        try requireFitting(bytes)
        guard head.hasNumbering else { throw EngineError.otherNumbering(path: path) }
        #if MARTLET_SEEDED_BUGS
            guard let bytes = delayed(bytes) else { return }
        #endif
        try tables.append(
            OutboxEntry(
                number: head.lastNumber + 1, time: time, base: head.cursor ?? "",
                operations: bytes))
    }

    #if MARTLET_SEEDED_BUGS
        private let waiting = Mutex<[UInt8]?>(nil)

        private func delayed(_ bytes: [UInt8]) -> [UInt8]? {
            guard SeededSyncBug.isOn(.outboxOutsideTransaction) else { return bytes }
            return waiting.withLock { waiting in
                defer { waiting = bytes }
                return waiting
            }
        }
    #endif

    private func requireFitting(_ bytes: [UInt8]) throws {
        guard bytes.count > SyncOperation.maximumBytes else { return }
        guard bytes.count <= SyncOperation.maximumUploadBytes else {
            throw EngineError(
                .invalidInput, path: path,
                "the changes of the write have \(bytes.count) bytes, and at most \(SyncOperation.maximumUploadBytes) can "
                    + "be uploaded together; nothing was written; divide the write")
        }
        for operation in try SyncOperation.decoded(bytes) {
            let size = operation.encodedSize
            if size <= SyncOperation.maximumBytes { continue }
            let type = schema.types[operation.address.type].name
            throw EngineError(
                .invalidInput, path: path,
                "the changes of \(operation.address.key.description(in: type)) have \(size) bytes, and at most "
                    + "\(SyncOperation.maximumBytes) of an object can be uploaded; nothing was written; store large values "
                    + "elsewhere")
        }
    }
}

extension EngineError {
    /// The error for a file in which another program has changed the numbers of types and properties.
    static func otherNumbering(path: String) -> EngineError {
        EngineError(
            .schemaMismatch, path: path,
            "another program has changed the synchronized types of the file since it was opened; nothing was written; "
                + "close the file and open it with the program's newest version")
    }
}

extension SQLValue {
    /// Describes the object with this primary key.
    fileprivate func description(in type: String) -> String {
        switch self {
        case .integer(let number): "the object '\(type)' with the primary key \(number)"
        case .text(let text): "the object '\(type)' with the primary key '\(text.prefix(40))'"
        default: "an object '\(type)'"
        }
    }
}

extension SyncOperation {
    /// The greatest size of one operation, in bytes. An operation and the other fields of its message must fit into the
    /// size limit of messages.
    package static let maximumBytes = MessageLimits().messageBytes - 4_096

    /// The greatest size of the operations of one upload, in bytes. The size is limited because the service keeps the
    /// operations in memory until it has stored them.
    package static let maximumUploadBytes = 64 << 20

    /// Encodes the operations of a transaction in the format of the outbox.
    package static func encoded(_ operations: [SyncOperation]) -> [UInt8] {
        var writer = MessageWriter()
        writer.list(operations) { $0.operation($1) }
        return writer.bytes
    }

    package static func decoded(_ bytes: [UInt8]) throws(MalformedMessage) -> [SyncOperation] {
        var limits = MessageLimits()
        limits.messageBytes = maximumUploadBytes
        var reader = try MessageReader(bytes, limits: limits)
        let operations = try reader.list { reader throws(MalformedMessage) in try reader.operation() }
        try reader.requireEnd()
        return operations
    }
}
