import MartletEngine

/// The columns of a synchronized type that are sent: all except the primary key and local properties.
///
/// The schema of the program determines which columns are sent. The schema in the file may have other values of `sync`
/// and `merge`.
struct SentColumns {
    /// A column and its property. This type has no reference-counted members, so it is cheap to copy for each row.
    struct Column {
        /// The position of the column in the table.
        let position: Int
        let property: PropertyIndex
        /// True if the stored form differs from the form that is sent.
        let isConverted: Bool
        let isCounter: Bool
    }

    /// The number of the type in messages.
    let type: Int
    /// The position of the primary key among the columns of the table.
    let keyPosition: Int
    let columns: [Column]
    /// The lists, sets and maps that are sent.
    let collections: [PropertyIndex]
    /// True for a type with `sync: upload`. An object of such a type is sent once, when it is created, and is never
    /// received.
    let isUploadOnly: Bool

    /// Returns nil if the type is not synchronized.
    init?(_ table: DatabaseSchema.Table, _ schema: SyncSchema) {
        guard let type = schema.number(of: table.type.name), let declared = schema[type],
            let keyPosition = table.layout.columns.firstIndex(where: { $0.property == table.type.primaryKey })
        else { return nil }
        self.type = type
        self.keyPosition = keyPosition
        isUploadOnly = declared.syncMode == .upload
        columns = table.layout.columns.enumerated().compactMap { position, column in
            let property = declared.properties[column.property]
            if position == keyPosition || property.isLocal { return nil }
            return Column(
                position: position, property: property.index, isConverted: property.isLink || property.isAny,
                isCounter: property.isCounter)
        }
        collections = declared.properties.filter { $0.isCollection && !$0.isLocal }.map(\.index)
    }

    /// The columns of the properties in `written`, in the order of the table.
    func written(_ written: ColumnSet) -> [Column] { columns.filter { written.contains($0.property) } }

    /// The collections that are in `written`.
    func collections(_ written: ColumnSet) -> [PropertyIndex] { collections.filter(written.contains) }

    func contains(_ property: PropertyIndex) -> Bool { columns.contains { $0.property == property } }

    /// True if `written` contains a counter.
    func containsCounter(_ written: ColumnSet) -> Bool {
        columns.contains { $0.isCounter && written.contains($0.property) }
    }
}
