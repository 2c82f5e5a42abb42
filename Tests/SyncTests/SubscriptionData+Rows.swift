import MartletSyncProtocol

@testable import MartletSyncService

extension SubscriptionData {
    /// Data with these objects. It is small, so it needs no temporary file.
    init(rows: [SyncRow] = [], leaving: [ObjectAddress] = [], maximumBytes: Int = 256 << 10) {
        do {
            var writer = Writer(maximumBytes: maximumBytes)
            for address in leaving { try writer.add(leaving: address) }
            for row in rows { try writer.add(row) }
            self = try writer.finish()
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// The remaining messages.
    var messages: [ServiceMessage] {
        var (data, messages) = (self, [] as [ServiceMessage])
        do {
            while let bytes = try data.next() { messages.append(try ServiceMessage(bytes)) }
        } catch {
            preconditionFailure("\(error)")
        }
        return messages
    }
}
