#if Postgres
    import MartletPostgres
    import MartletSyncProtocol

    /// Describes which values an entry of the log has written.
    struct LoggedChange {
        fileprivate let isUpdate: Bool
        /// Whether each column was written; nil for all columns.
        fileprivate let columns: [Bool]?
        fileprivate let old: [UInt8]?
        fileprivate let new: [UInt8]?
        fileprivate let paths: [ValuePath]

        /// Reads the columns of `martlet.log` from a row. Each argument after the row is the position, in the row, of
        /// the column with the name of the argument.
        init(_ row: PostgresRow, op: Int, columns: Int, old: Int, new: Int, paths: Int) throws {
            isUpdate = row.bytes(op) == [UInt8(ascii: "u")]
            self.columns = try row.bits(columns)
            self.old = row.isNull(old) ? nil : row.bytes(old)
            self.new = row.isNull(new) ? nil : row.bytes(new)
            self.paths = row.isNull(paths) ? [] : try Self.decoded(row.bytes(paths))
        }

        /// Encodes paths for the column `paths`. Returns nil if there are no paths.
        static func encoded(_ paths: Set<ValuePath>) -> [UInt8]? {
            if paths.isEmpty { return nil }
            var writer = MessageWriter()
            writer.list(paths.sorted()) { $0.path($1) }
            return writer.bytes
        }

        private static func decoded(_ bytes: [UInt8]) throws -> [ValuePath] {
            var reader = try MessageReader(bytes)
            return try reader.list { reader throws(MalformedMessage) in try reader.path() }
        }
    }

    extension RowFormat {
        /// The paths of the values that an entry has written. For an update of an embedded object, these are only the
        /// paths of the changed members. So changes of different members do not conflict.
        func paths(_ change: LoggedChange) throws -> Set<ValuePath> {
            var paths = Set(change.paths)
            var parts: [SyncColumn] = []
            for (position, column) in columns.enumerated() {
                guard let column, change.columns.map({ $0.indices.contains(position) && $0[position] }) ?? true else {
                    continue
                }
                if change.isUpdate, case .embedded = column.type {
                    parts.append(column)
                } else {
                    paths.insert(column.path)
                }
            }
            if parts.isEmpty { return paths }
            let (old, new) = (try values(change.old), try values(change.new))
            for column in parts {
                Self.addDifferences(old[column.path] ?? .null, new[column.path] ?? .null, column.path, to: &paths)
            }
            return paths
        }

        private func values(_ image: [UInt8]?) throws -> [ValuePath: SyncValue] {
            guard let image else { return [:] }
            return try image.withUnsafeBytes { bytes in
                var reader = try FieldReader(record: bytes)
                return try values(&reader)
            }
        }

        private static func addDifferences(
            _ old: SyncValue, _ new: SyncValue, _ path: ValuePath, to paths: inout Set<ValuePath>
        ) {
            guard case .embedded(let before) = old, case .embedded(let after) = new, before.count == after.count else {
                paths.insert(path)
                return
            }
            for index in before.indices where before[index] != after[index] {
                addDifferences(before[index], after[index], ValuePath(path.properties + [index]), to: &paths)
            }
        }
    }

    extension ValuePath {
        /// True if one of the paths leads to this value or to a value that contains it.
        func isInside(_ paths: Set<ValuePath>) -> Bool {
            paths.contains { $0.properties.count <= properties.count && $0.overlaps(self) }
        }
    }
#endif
