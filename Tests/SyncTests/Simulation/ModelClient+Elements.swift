import MartletSync
import MartletSyncProtocol

extension ModelClient {
    // Checks that the file shows the newest change of each element that the uploads in the outbox have changed. Does
    // not check links, because their targets may not be in the file.
    func checkOwnElements(_ uploads: [ClientMessage.Upload], _ rows: ModelRows, _ mask: UploadMask) {
        var written: [ObjectAddress: [ModelCollection.Element: SyncValue?]] = [:]
        for operation in uploads.flatMap(\.operations) {
            let address = operation.address
            guard let element = operation.element else {
                if case .delete = operation { written[address] = nil }
                continue
            }
            switch operation {
            case .insertElement(_, _, _, let value), .setElement(_, _, _, let value), .insertMember(_, _, let value),
                .setEntry(_, _, _, let value):
                if case .link = value { continue }
                written[address, default: [:]][element] = .some(value)
            default: written[address, default: [:]][element] = .some(nil)
            }
        }
        for (address, elements) in written {
            guard let values = rows[address] else { continue }
            for (element, value) in elements where !agrees(values.value(of: element), value, rows, mask) {
                return fail(
                    "the own write of an element of \(address) \(element) = \(String(describing: value)) is not shown")
            }
        }
    }
}
