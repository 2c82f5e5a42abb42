import MartletTestSupport

@testable import Martlet
@testable import MartletEngine

extension ModelRunner {
    /// Checks that the chunks of the lists, sets and maps in memory equal the chunks in the file. A change of a
    /// collection writes only the chunks that it touches. So a later write would damage the file if the chunks
    /// differed. Returns the first error.
    static func collectionMismatch(_ realm: Realm) throws -> String? {
        let context = realm.context
        guard context.hasSnapshot, !realm.isInWriteTransaction else { return nil }
        for core in context.collections.values.compactMap(\.core) {
            guard let elements = core.elements, !core.isQueued, !core.isOwnerDeleted else { continue }
            let known = elements.chunks.map { "\($0.ordinal): \($0.count)" }
            let stored = try context.handle.read { connection in
                try ChunkedElements(owner: core.owner, table: core.layout.chunkTable, connection)
            }
            let found = stored.chunks.map { "\($0.ordinal): \($0.count)" }
            if known != found { return "'\(core.name)' has the chunks \(known) in memory and \(found) in the file" }
            for chunk in elements.chunks {
                guard let values = chunk.elements else { continue }
                let storedValues = try context.handle.read { connection in
                    try ChunkedElements.load(
                        owner: core.owner, ordinal: chunk.ordinal, count: chunk.count, table: core.layout.chunkTable,
                        connection)
                }
                if values != storedValues {
                    return "'\(core.name)' has \(values) in memory and \(storedValues) in the file"
                }
            }
        }
        return nil
    }
}
