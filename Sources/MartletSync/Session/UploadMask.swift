package import MartletSyncProtocol
import MartletValues

#if MARTLET_SEEDED_BUGS
    import MartletEngine
#endif

/// The values that downloads must not overwrite, because unacknowledged uploads have written them.
///
/// When the service acknowledges an upload, it sends the state of every object that the upload has touched. Until then,
/// the client shows its own values.
///
/// For each value, a mask stores the number of the newest upload that has written the value. So the mask reads an
/// upload once, when the upload is added, and does not need the upload when it is acknowledged.
package struct UploadMask: Sendable {
    /// The values of one object that uploads have written. Uploads with numbers up to `acknowledged` are ignored.
    fileprivate struct Written {
        /// The newest upload that has touched the object.
        var newest: UInt64 = 0
        /// The newest upload that has created or deleted the object; zero if there is none.
        var whole: UInt64 = 0
        /// The newest upload of each path. Most objects have few paths.
        var paths: [(path: ValuePath, upload: UInt64)] = []
        /// The amounts that the uploads add to counters, in the order of the uploads.
        var amounts: [(path: ValuePath, upload: UInt64, amount: Int64)] = []
    }

    private var objects: [ObjectAddress: Written] = [:]
    /// The number of the newest upload that was added; zero if none was added.
    package private(set) var lastUpload: UInt64 = 0
    /// The number of the newest acknowledged upload.
    private var acknowledged: UInt64 = 0
    /// The number of uploads that were acknowledged since objects were last removed from `objects`.
    private var acknowledgedSinceRemoval: UInt64 = 0

    package init(_ uploads: [ClientMessage.Upload] = []) { for upload in uploads { add(upload) } }

    /// Adds an upload. The numbers of the uploads must increase.
    package mutating func add(_ upload: ClientMessage.Upload) {
        lastUpload = upload.number
        for operation in upload.operations {
            objects[operation.address, default: Written()].add(operation, upload.number)
        }
    }

    /// Removes the uploads up to a number, because the service has acknowledged them.
    package mutating func removeUploads(through number: UInt64) {
        #if MARTLET_SEEDED_BUGS
            if SeededSyncBug.isOn(.maskKept) { return }
        #endif
        guard number > acknowledged else { return }
        acknowledgedSinceRemoval += number - acknowledged
        acknowledged = number
        if number >= lastUpload {
            objects = [:]
        } else if acknowledgedSinceRemoval >= objects.count {
            // The filter visits all objects. To limit its cost, it runs only after at least as many acknowledgements as
            // there are objects.
            objects = objects.filter { $0.value.newest > number }
            acknowledgedSinceRemoval = 0
        }
    }

    /// Whether an upload has touched the object.
    package func contains(_ address: ObjectAddress) -> Bool { written(address) != nil }

    private func written(_ address: ObjectAddress) -> Written? {
        objects[address].flatMap { $0.newest > acknowledged ? $0 : nil }
    }

    /// Returns the values of a downloaded row that may be written to the file, or nil if an upload has created or
    /// deleted the object.
    ///
    /// If an upload has written a value inside an embedded object, a downloaded value of the whole embedded object is
    /// masked. If an upload has changed a collection, the whole collection is masked. A counter is not masked. Its new
    /// value is the downloaded value plus the amounts in the uploads, because the downloaded value does not contain
    /// these amounts yet.
    package func unmasked(_ row: SyncRow) -> SyncRow? {
        guard let written = written(row.address) else { return row }
        guard written.whole <= acknowledged else { return nil }
        let paths = written.paths.filter { $0.upload > acknowledged }.map { $0.path }
        var values = row.values.filter { value in !paths.contains { Self.covers($0, value.key) } }
        #if MARTLET_SEEDED_BUGS
            if SeededSyncBug.isOn(.counterForgotten) { return SyncRow(address: row.address, values: values) }
        #endif
        // The sum of all amounts is added at once, because a partial sum might not fit into 64 bits.
        var amounts: [ValuePath: Int128] = [:]
        for (path, upload, amount) in written.amounts where upload > acknowledged {
            amounts[path, default: 0] += Int128(amount)
        }
        for (path, amount) in amounts { values[path] = values[path]?.adding(amount) }
        return SyncRow(address: row.address, values: values)
    }

    private static func covers(_ written: ValuePath, _ downloaded: ValuePath) -> Bool {
        #if MARTLET_SEEDED_BUGS
            if SeededSyncBug.isOn(.embeddedUnmasked) { return written == downloaded }
        #endif
        return written.overlaps(downloaded)
    }

    /// Returns the part of a downloaded batch that may be written to the file.
    package func masked(_ batch: DownloadedBatch) -> DownloadedBatch {
        #if MARTLET_SEEDED_BUGS
            if SeededSyncBug.isOn(.unmasked) { return batch }
        #endif
        if objects.isEmpty { return batch }
        var visible = DownloadedBatch(rows: [], leaving: batch.leaving.filter { !contains($0) })
        for (index, address) in batch.rows.addresses.enumerated() {
            if !contains(address) {
                visible.rows.append(rowAt: index, of: batch.rows)
            } else if let row = unmasked(batch.rows.row(at: index)) {
                visible.rows.append(row)
            }
        }
        return visible
    }
}

extension UploadMask.Written {
    fileprivate mutating func add(_ operation: SyncOperation, _ upload: UInt64) {
        newest = upload
        switch operation {
        case .create, .delete: whole = upload
        case .update(_, let values): for path in values.keys { add(path, upload) }
        case .add(_, let path, let amount): amounts.append((path, upload, amount))
        case .insertElement(_, let path, _, _), .setElement(_, let path, _, _), .removeElement(_, let path, _),
            .insertMember(_, let path, _), .removeMember(_, let path, _), .setEntry(_, let path, _, _),
            .removeEntry(_, let path, _):
            add(path, upload)
        }
    }

    private mutating func add(_ path: ValuePath, _ upload: UInt64) {
        if let index = paths.firstIndex(where: { $0.path == path }) {
            paths[index].upload = upload
        } else {
            paths.append((path, upload))
        }
    }
}

extension SyncValue {
    /// Returns the sum, or the nearest integer if the sum does not fit into 64 bits. The service will refuse such an
    /// addition.
    fileprivate func adding(_ amount: Int128) -> SyncValue {
        guard case .scalar(.integer(let number)) = self else { return self }
        return .scalar(.integer(Int64(clamping: Int128(number) + amount)))
    }
}
