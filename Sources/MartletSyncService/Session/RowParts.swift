import MartletSyncProtocol

/// Rows, and addresses of objects that leave the subscriptions, divided into parts. Each part fits into one message.
struct RowParts {
    /// At least one part. The addresses come before the rows, so usually only the first part contains addresses.
    private(set) var parts: [(rows: [SyncRow], leaving: [ObjectAddress])] = [([], [])]
    private var bytes = 0
    private let maximumBytes: Int

    init(_ rows: [SyncRow], _ leaving: [ObjectAddress], maximumBytes: Int) {
        self.maximumBytes = maximumBytes
        for address in leaving {
            begin { $0.address(address) }
            parts[parts.count - 1].leaving.append(address)
        }
        for row in rows {
            begin { $0.row(row) }
            parts[parts.count - 1].rows.append(row)
        }
    }

    // Begins a new part if the last part has no space for the bytes that `write` produces.
    private mutating func begin(_ write: (inout MessageWriter) -> Void) {
        var writer = MessageWriter()
        write(&writer)
        let size = writer.bytes.count
        if bytes > 0, bytes + size > maximumBytes {
            parts.append(([], []))
            bytes = 0
        }
        bytes += size
    }
}
