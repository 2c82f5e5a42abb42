import MartletSyncProtocol

/// Rows and addresses, divided into parts that fit into one message each.
struct RowParts {
    /// At least one part. The addresses of objects that leave come first, so usually only the first part has some.
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

    // Begins another part if the current one has no space for what `write` writes.
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
