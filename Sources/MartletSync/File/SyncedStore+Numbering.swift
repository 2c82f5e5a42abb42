import MartletEngine
import MartletSyncProtocol

/// The translation of the numbers of types and properties. The file contains the text `SyncSchema.numbering` of the
/// program that last opened the file for writing.
extension SyncedStore {
    // If the schema has changed, translates the numbers in the outbox, the subscriptions and the unresolved links, and
    // stores the new numbering. A process that still has the file open with the former schema then cannot write to the
    // file: `SyncRecorder` compares the numberings and throws.
    func adoptNumbering() throws {
        guard !coordinator.options.isReadOnly else { return }
        let numbering = schema.numbering
        let known = try read { try $0.record().numbering }
        if known == numbering { return }
        _ = try write { transaction in
            let writer = DownloadWriter(transaction)
            try transaction.handle.read { connection in
                let tables = SyncTables(connection)
                var record = try tables.record()
                let translation = NumberTranslation(from: record.numbering, to: schema) { type in
                    writer.schema[type.name].map { writer.defaultValues($0.id) } ?? []
                }
                if record.numbering != "" { try requireNoObjects(ofTypesAddedTo: translation, tables) }
                var last = record.acknowledged
                while record.numbering != numbering, let upload = try upload(after: last, tables) {
                    let operations = try translated(upload, translation)
                    try tables.replaceOperations(of: upload.number, by: SyncOperation.encoded(operations))
                    last = upload.number
                }
                if record.numbering != "" {
                    for set in Set([record.shownSet, record.wantedSet]) {
                        // This removes the subscriptions to types that are not synchronized any more.
                        let subscriptions = try tables.subscriptions(of: set).filter {
                            schema.number(of: $0.type) != nil
                        }.map { try translated($0, translation) }
                        try tables.write(subscriptions, of: set)
                    }
                }
                try translateUnresolved(UnresolvedLinks(connection), translation)
                record.numbering = numbering
                try tables.write(record)
            }
        }
    }

    // The outbox has no entries for objects that were written before their type was synchronized. The service would not
    // know these objects, so they would leave the file after their first change.
    private func requireNoObjects(ofTypesAddedTo translation: NumberTranslation, _ tables: SyncTables) throws {
        let added = schema.types.filter { !$0.isEmbedded && !translation.hadType($0.name) }.map(\.name)
        let used = try added.filter { try tables.hasObjects(ofType: $0) }
        guard used.isEmpty else {
            throw EngineError(
                .incompatibleConfiguration, path: coordinator.path,
                "the file has objects of '\(used.joined(separator: "', '"))' that were written before this type was "
                    + "synchronized, so they would never be uploaded; nothing was changed; synchronize a new type, and copy "
                    + "the objects to it")
        }
    }

    private func translateUnresolved(_ links: UnresolvedLinks, _ translation: NumberTranslation) throws {
        let changes = try links.wholes().map { bytes in
            var reader = try MessageReader(bytes, limits: .forServiceMessages)
            var writer = MessageWriter()
            writer.value(translation.translatedAny(try reader.syncValue()))
            return (old: bytes, new: writer.bytes)
        }
        try links.replaceWholes(changes)
    }

    private func translated(
        _ subscription: StoredSubscription, _ translation: NumberTranslation
    ) throws -> StoredSubscription {
        var subscription = subscription
        do {
            let condition = try SubscriptionCondition(encoded: subscription.condition)
            subscription.condition = try translation.translated(condition, of: subscription.type).encoded()
        } catch let missing as NumberTranslation.Missing {
            throw EngineError(
                .schemaMismatch, path: coordinator.path,
                "a subscription of the file compares \(missing.name), which is not synchronized any more; nothing was "
                    + "changed; remove the subscription with the previous version of the program first")
        } catch {
            throw EngineError.damaged(
                "a condition in 'martlet_subscriptions' cannot be read (\(error))", path: coordinator.path)
        }
        return subscription
    }

    private func translated(
        _ upload: ClientMessage.Upload, _ translation: NumberTranslation
    ) throws -> [SyncOperation] {
        do {
            return try upload.operations.map { try translation.translated($0) }
        } catch let missing as NumberTranslation.Missing {
            throw EngineError(
                .schemaMismatch, path: coordinator.path,
                "the file has a transaction that was not uploaded yet and that has changed \(missing.name), which is not "
                    + "synchronized any more; nothing was changed; upload it with the previous version of the program first"
            )
        }
    }
}
