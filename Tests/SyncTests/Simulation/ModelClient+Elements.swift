import MartletSync
import MartletSyncProtocol

extension ModelClient {
    // The newest changes of elements that uploads in the outbox have made are shown. Links are left out, because their
    // targets may not be in the file.
    func checkOwnElements(_ stored: ClientState, _ rows: ModelRows) {
        var written: [ObjectAddress: [ModelCollection.Element: SyncValue?]] = [:]
        for operation in stored.outbox.flatMap(\.operations) {
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
            for (element, value) in elements where values.value(of: element) != value {
                return fail(
                    "the own write of an element of \(address) \(element) = \(String(describing: value)) is not shown")
            }
        }
    }
}
