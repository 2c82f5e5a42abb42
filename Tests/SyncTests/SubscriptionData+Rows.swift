import MartletSyncProtocol

@testable import MartletSyncService

extension SubscriptionData {
    /// Data with these objects. It is small, so it needs no temporary file.
    convenience init(rows: [SyncRow] = [], leaving: [ObjectAddress] = [], maximumBytes: Int = 256 << 10) {
        self.init()
        do {
            var writer = Writer(self, maximumBytes: maximumBytes)
            for (number, address) in leaving.enumerated() {
                try writer.add(leaving: address)
                writer.progress = 1_000 * (number + 1) / (leaving.count + rows.count)
            }
            for (number, row) in rows.enumerated() {
                try writer.add(row)
                writer.progress = 1_000 * (leaving.count + number + 1) / (leaving.count + rows.count)
            }
            try writer.finish()
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Takes the messages that exist.
    func takeMessages() -> [ServiceMessage] {
        var messages: [ServiceMessage] = []
        do {
            while case .message(let bytes) = try next() { messages.append(try ServiceMessage(bytes)) }
        } catch {
            preconditionFailure("\(error)")
        }
        return messages
    }
}
