package import MartletSQLite

/// What a Realm asks of the file it opens.
package struct StoreOptions: Sendable {
    /// An object type of the program, with the values that new columns of old rows get.
    package struct TypeDeclaration: Sendable {
        package let type: ObjectTypeSchema
        /// What the catalog of a file keeps of it.
        let facts: String
        /// The column values of a new object, in schema order: called once per value that must differ per row.
        package let defaultRow: @Sendable () -> [SQLValue]

        package init(_ type: ObjectTypeSchema, defaultRow: @escaping @Sendable () -> [SQLValue]) {
            self.type = type
            facts = SchemaText.facts(type)
            self.defaultRow = defaultRow
        }
    }

    package enum Durability: Sendable { case full, normal, off }

    package var path: String
    package var types: [TypeDeclaration]
    package var isReadOnly = false
    /// The file is deleted with its last Realm.
    package var isTemporary = false
    package var schemaVersion: UInt64 = 0
    package var durability = Durability.full
    package var maximumNumberOfActiveVersions: Int?
    package var environment = Environment.live

    package init(path: String, types: [TypeDeclaration]) {
        self.path = path
        self.types = types
    }

    var connection: ConnectionOptions {
        var options = ConnectionOptions(path: path)
        options.isReadOnly = isReadOnly
        options.vfsName = environment.vfsName
        options.busyTimeoutMilliseconds = environment.writeTimeoutMilliseconds
        options.synchronous =
            switch durability {
            case .full: "FULL"
            case .normal: "NORMAL"
            case .off: "OFF"
            }
        return options
    }
}
