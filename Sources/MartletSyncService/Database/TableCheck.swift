#if Postgres
    import MartletEngine
    import MartletPostgres

    /// Compares the tables of the database with the tables that the schema needs.
    struct TableCheck {
        let session: PostgresSession
        /// The SQL schema of the tables.
        let tableSchema: String

        /// A column as the catalog of PostgreSQL describes it.
        private struct Found {
            let type: String
            let isRequired: Bool
            let hasDefault: Bool
            let isGenerated: Bool
            let collation: String

            var description: String { type + (isRequired ? " NOT NULL" : "") }
        }

        /// Returns one message for each difference, for the person who deploys.
        func findings(_ table: SyncTable) throws -> [String] {
            let relation = try relation(table.name)
            guard let row = relation.first else {
                return ["table '\(table.name)' of type '\(table.typeName)' does not exist in schema '\(tableSchema)'"]
            }
            guard ["r", "p"].contains(try row.text(1)) else {
                return ["'\(table.name)' of type '\(table.typeName)' is not a table"]
            }
            let oid = PostgresParameter(oid: 26, bytes: row.bytes(0))
            let found = try columns(table, oid) + keys(table, oid) + references(table, oid)
            return try found + table.collections.flatMap { try findings($0, of: table) }
        }

        private func relation(_ name: String) throws -> PostgresResult {
            try session.query(
                """
                SELECT c.oid, c.relkind::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = $1 AND c.relname = $2
                """, [.text(tableSchema), .text(name)])
        }

        private func columns(_ table: SyncTable, _ oid: PostgresParameter) throws -> [String] {
            let found = try columns(oid)
            let wrong = table.columns.compactMap { finding(table.name, $0, found[$0.name]) }
            return wrong + surplus(found, Set(table.columns.map(\.name)), table.name)
        }

        private func columns(_ oid: PostgresParameter) throws -> [String: Found] {
            let result = try session.query(
                """
                SELECT a.attname::text,
                    CASE WHEN s.nspname = 'pg_catalog' THEN '' ELSE s.nspname || '.' END
                        || CASE WHEN s.nspname = 'pg_catalog' THEN format_type(a.atttypid, -1) ELSE y.typname END,
                    a.attnotnull, a.atthasdef OR a.attidentity <> '',
                    a.attgenerated <> '' OR a.attidentity = 'a', coalesce(l.collname::text, '')
                FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid JOIN pg_namespace s ON s.oid = y.typnamespace
                LEFT JOIN pg_collation l ON l.oid = a.attcollation
                WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
                """, [oid])
            var found: [String: Found] = [:]
            for row in result.rows {
                found[try row.text(0)] = Found(
                    type: try row.text(1), isRequired: row.boolean(2), hasDefault: row.boolean(3),
                    isGenerated: row.boolean(4), collation: try row.text(5))
            }
            return found
        }

        private func surplus(_ found: [String: Found], _ expected: Set<String>, _ table: String) -> [String] {
            found.filter { !expected.contains($0.key) && $0.value.isRequired && !$0.value.hasDefault }.keys.sorted().map
            {
                "table '\(table)', column '\($0)': expected a default, because no client writes the column, found NOT NULL "
                    + "without a default"
            }
        }

        private func finding(_ table: String, _ column: SyncColumn, _ found: Found?) -> String? {
            let place = "table '\(table)', column '\(column.name)'"
            let expected = column.type.sqlName + (column.isRequired ? " NOT NULL" : "")
            guard let found else { return "\(place): expected \(expected), found no column" }
            if found.type != column.type.sqlName || found.isRequired != column.isRequired {
                return "\(place): expected \(expected), found \(found.description)"
            }
            if found.isGenerated { return "\(place): expected a column that clients can write, found a generated one" }
            if column.type.base == .text, found.collation != "C" {
                return "\(place): expected text COLLATE \"C\", found text COLLATE \"\(found.collation)\""
            }
            return nil
        }

        /// The columns of the primary key, and the columns of each deferrable unique constraint. Commas separate the
        /// columns of one constraint. `primary` is nil if the primary key is deferrable.
        private func constraints(_ oid: PostgresParameter) throws -> (primary: String?, uniques: Set<String>) {
            let result = try session.query(
                """
                SELECT k.contype::text, k.condeferrable, (SELECT string_agg(a.attname::text, ',' ORDER BY o.place)
                    FROM unnest(k.conkey) WITH ORDINALITY o(number, place)
                    JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = o.number)
                FROM pg_constraint k WHERE k.conrelid = $1 AND k.contype IN ('p', 'u')
                """, [oid])
            var primary: String?
            var uniques: Set<String> = []
            for row in result.rows {
                if try row.text(0) == "p", !row.boolean(1) { primary = try row.text(2) }
                if try row.text(0) == "u", row.boolean(1) { uniques.insert(try row.text(2)) }
            }
            return (primary, uniques)
        }

        private func keys(_ table: SyncTable, _ oid: PostgresParameter) throws -> [String] {
            let (primary, uniques) = try constraints(oid)
            var findings: [String] = []
            if primary != table.key.name {
                findings.append(
                    "table '\(table.name)', column '\(table.key.name)': expected PRIMARY KEY, found "
                        + (primary.map { "PRIMARY KEY (\($0))" } ?? "no primary key, or a deferrable one"))
            }
            for unique in table.uniques.map({ $0.joined(separator: ",") }) where !uniques.contains(unique) {
                findings.append(
                    "table '\(table.name)', columns '\(unique)': expected UNIQUE … DEFERRABLE, found no such constraint"
                )
            }
            return findings
        }

        private func references(_ table: SyncTable, _ oid: PostgresParameter) throws -> [String] {
            let found = try references(oid)
            return table.columns.compactMap { column in
                column.reference.flatMap { finding(table.name, column.name, $0, found) }
            }
        }

        /// The deferrable foreign keys of a table that have one column. Each has the form 'column>table.column'.
        private func references(_ oid: PostgresParameter) throws -> Set<String> {
            let result = try session.query(
                """
                SELECT a.attname::text, c.relname::text, b.attname::text
                FROM pg_constraint k JOIN pg_class c ON c.oid = k.confrelid
                JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
                JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[1]
                WHERE k.conrelid = $1 AND k.contype = 'f' AND k.condeferrable AND cardinality(k.conkey) = 1
                """, [oid])
            return Set(try result.rows.map { try "\($0.text(0))>\($0.text(1)).\($0.text(2))" })
        }

        private func finding(
            _ table: String, _ column: String, _ reference: (table: String, column: String), _ found: Set<String>
        ) -> String? {
            if found.contains("\(column)>\(reference.table).\(reference.column)") { return nil }
            return "table '\(table)', column '\(column)': expected REFERENCES \(reference.table) (\(reference.column)) "
                + "DEFERRABLE, found no such reference"
        }

        // MARK: Collections

        private func findings(_ collection: SyncCollection, of table: SyncTable) throws -> [String] {
            let name = collection.name
            let relation = try relation(name)
            guard let row = relation.first, ["r", "p"].contains(try row.text(1)) else {
                let property = "\(table.typeName).\(collection.value.propertyName)"
                return ["table '\(name)' of the collection '\(property)' does not exist in schema '\(tableSchema)'"]
            }
            let oid = PostgresParameter(oid: 26, bytes: row.bytes(0))
            let found = try columns(oid)
            var findings = [finding(name, collection.value, found["value"])].compactMap { $0 }
            for (column, type) in [("owner", table.key.type.sqlName)] + Self.keyColumn(collection)
            where found[column]?.type != type || found[column]?.isRequired != true {
                findings.append(
                    "table '\(name)', column '\(column)': expected \(type) NOT NULL, found "
                        + (found[column]?.description ?? "no column"))
            }
            findings += surplus(found, Set(collection.columns), name)
            findings += try key(collection, oid)
            let references = try self.references(oid)
            findings += [finding(name, "owner", (table.name, table.key.name), references)].compactMap { $0 }
            if let target = collection.value.reference {
                findings += [finding(name, "value", target, references)].compactMap { $0 }
            }
            return findings
        }

        private static func keyColumn(_ collection: SyncCollection) -> [(String, String)] {
            switch collection.kind {
            case .list: [("position", "bytea")]
            case .set: []
            case .map: [("key", "text")]
            }
        }

        private func key(_ collection: SyncCollection, _ oid: PostgresParameter) throws -> [String] {
            let (primary, uniques) = try constraints(oid)
            let expected = "owner,\(collection.keyColumn)"
            if collection.isNullableSet {
                if uniques.contains(expected) { return [] }
                return [
                    "table '\(collection.name)', columns '\(expected)': expected UNIQUE … DEFERRABLE, found no such "
                        + "constraint"
                ]
            }
            if primary == expected { return [] }
            return [
                "table '\(collection.name)', columns '\(expected)': expected PRIMARY KEY, found "
                    + (primary.map { "PRIMARY KEY (\($0))" } ?? "no primary key that is not deferrable")
            ]
        }
    }
#endif
