#if Postgres
    import MartletEngine
    import MartletPostgres
    import MartletSyncProtocol
    import MartletValues

    /// Applies operations of an upload to the elements of one collection of one object. The caller has locked the row
    /// of the object.
    struct ElementWriter {
        private let row: ObjectRow
        private let collection: SyncCollection
        private let origin: UploadOrigin
        private let relation: String
        private let triggers: ElementTriggers

        init(_ row: ObjectRow, _ path: ValuePath, _ origin: UploadOrigin) throws {
            guard path.count == 1, let collection = row.table.collection(of: path.first) else {
                throw InvalidUpload("an operation names an unknown collection of '\(row.table.typeName)'")
            }
            (self.row, self.collection, self.origin) = (row, collection, origin)
            relation = row.catalog.relation(collection)
            triggers = row.catalog.triggers(row.table, collection)
        }

        private var session: PostgresSession { row.session }

        /// Returns false if the operation has changed nothing.
        func apply(_ operation: SyncOperation) throws -> Bool {
            switch (collection.kind, operation) {
            case (.list, .insertElement(_, _, let position, let value)): try insert(position, value)
            case (.list, .setElement(_, _, let position, let value)): try replace(position, value)
            case (.list, .removeElement(_, _, let position)): try delete(position)
            case (.set, .insertMember(_, _, let value)): try insert(member: value)
            case (.set, .removeMember(_, _, let value)): try remove(self.value(value))
            case (.map, .setEntry(_, _, let key, let value)): try set(key, value)
            case (.map, .removeEntry(_, _, let key)): try remove(try text(key))
            default:
                throw InvalidUpload(
                    "an operation does not fit the collection '\(row.table.typeName).\(collection.value.propertyName)'")
            }
        }

        // MARK: Lists

        // The position contains the number of the client, so no other client has inserted an element there.
        private func insert(_ position: ListPosition, _ value: SyncValue) throws -> Bool {
            try session.query(
                """
                INSERT INTO \(relation) ("owner", "position", "value") VALUES ($1, $2, $3)
                ON CONFLICT ("owner", "position") DO UPDATE SET "value" = excluded."value"
                """, [row.key, .bytes(position.bytes), try self.value(value)])
            return true
        }

        // If the element was removed, the replacement has no effect.
        private func replace(_ position: ListPosition, _ value: SyncValue) throws -> Bool {
            let (key, value) = (PostgresParameter.bytes(position.bytes), try self.value(value))
            guard try wins(key) else { return false }
            let result = try session.query(
                """
                UPDATE \(relation) e SET "value" = $3 WHERE "owner" = $1 AND "position" = $2
                AND \(triggers.isDistinct("e.\"value\"", "$3"))
                """, [row.key, key, value])
            if result.affectedRows > 0 { return true }
            let isUnchanged =
                try session.query(
                    """
                    SELECT FROM \(relation) e WHERE "owner" = $1 AND "position" = $2
                    AND NOT (\(triggers.isDistinct("e.\"value\"", "$3")))
                    """, [row.key, key, value]
                ).rowCount > 0
            if isUnchanged {
                try touch(key)
            } else if try exists(key) {
                throw Self.notPermitted
            }
            return false
        }

        private func delete(_ position: ListPosition) throws -> Bool {
            let bytes = PostgresParameter.bytes(position.bytes)
            if try delete(bytes) > 0 { return true }
            if try exists(bytes) { throw Self.notPermitted }
            return false
        }

        // MARK: Sets and maps

        private func insert(member: SyncValue) throws -> Bool {
            let value = try value(member)
            guard try wins(value) else { return false }
            let result = try session.query(
                """
                INSERT INTO \(relation) ("owner", "value") SELECT $1, $2
                WHERE NOT EXISTS (SELECT FROM \(relation) WHERE "owner" = $1 AND "value" IS NOT DISTINCT FROM $2)
                """, [row.key, value])
            if result.affectedRows == 0 { try touch(value) }
            return result.affectedRows > 0
        }

        private func set(_ key: String, _ value: SyncValue) throws -> Bool {
            let (name, value) = (try text(key), try self.value(value))
            guard try wins(name) else { return false }
            let result = try session.query(
                """
                INSERT INTO \(relation) AS e ("owner", "key", "value") VALUES ($1, $2, $3)
                ON CONFLICT ("owner", "key") DO UPDATE SET "value" = excluded."value"
                WHERE \(triggers.isDistinct("e.\"value\"", "excluded.\"value\""))
                """, [row.key, name, value])
            if result.affectedRows == 0 { try touch(name) }
            return result.affectedRows > 0
        }

        private func remove(_ key: PostgresParameter) throws -> Bool {
            guard try wins(key) else { return false }
            if try delete(key) > 0 { return true }
            if try exists(key) { throw Self.notPermitted }
            try touch(key)
            return false
        }

        // MARK: Statements

        private var isKey: String { "\"owner\" = $1 AND \"\(collection.keyColumn)\" IS NOT DISTINCT FROM $2" }

        private func delete(_ key: PostgresParameter) throws -> Int {
            try session.query("DELETE FROM \(relation) WHERE \(isKey)", [row.key, key]).affectedRows
        }

        private func exists(_ key: PostgresParameter) throws -> Bool {
            try session.query("SELECT FROM \(relation) WHERE \(isKey)", [row.key, key]).rowCount > 0
        }

        private func value(_ value: SyncValue) throws -> PostgresParameter {
            PostgresParameter(oid: collection.value.type.base.oid, bytes: try collection.value.encode(value))
        }

        private func text(_ key: String) throws -> PostgresParameter { try PostgresParameter(.text(key), as: .text) }

        private static let notPermitted = ObjectRefusal(.notPermitted, "the user may not make this change")

        // MARK: Conflicts

        /// Returns false if another change of the element wins against the upload. Another change wins if two
        /// conditions hold: it has a newer time stamp, and the client had not received it before the client made the
        /// upload.
        ///
        /// The caller has locked the row of the object, so no other upload can add entries for the object meanwhile.
        private func wins(_ key: PostgresParameter) throws -> Bool {
            let result = try session.query(
                """
                SELECT op, time, client FROM martlet.log
                WHERE type = $1 AND substr(key, 1, 200) = substr($2, 1, 200) AND key = $2 AND xid >= $3
                AND NOT pg_visible_in_snapshot(xid, $4::pg_snapshot)
                AND (op = 'd' OR (property = \(triggers.property) AND element = \(triggers.element(ofKey: "$5"))))
                ORDER BY seq
                """,
                [
                    .integer(Int32(triggers.owner.typeID)), .bytes(row.key.bytes), .transaction(origin.base.xmin),
                    .text(origin.base.snapshot), key,
                ])
            var isNewer = false
            for found in result.rows {
                // Entries before a deletion belong to an earlier object with the same key.
                if found.bytes(0) == [UInt8(ascii: "d")] { isNewer = false }
                let (time, client) = (try found.bigint(1), try found.bigint(2))
                if found.bytes(0) == [UInt8(ascii: "d")] || client == origin.client { continue }
                if (time, client) >= (origin.storedTime, origin.client) { isNewer = true }
            }
            return !isNewer
        }

        /// Logs the time stamp of an operation that changes nothing, because the collection already has the state that
        /// the operation requests.
        private func touch(_ key: PostgresParameter) throws {
            let owner = triggers.owner
            let image = "SELECT \(owner.image("t")) FROM \(owner.relation) t WHERE t.\(owner.table.key.quoted) = $1"
            try session.query(
                """
                INSERT INTO martlet.log (type, op, facts, key, columns, old, new, time, client, upload, property, element)
                SELECT \(owner.typeID), 't', \(owner.factsID), $2, B'', NULL, i.image, $3, $4, $5, \(triggers.property),
                    \(triggers.element(ofKey: "$6"))
                FROM (SELECT (\(image)) AS image) i
                """,
                [
                    row.key, .bytes(row.key.bytes), .bigint(origin.storedTime), .bigint(origin.client),
                    .bigint(origin.number), key,
                ])
        }
    }
#endif
