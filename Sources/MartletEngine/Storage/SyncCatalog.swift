import MartletSQLite

/// The tables that a synchronized file has in addition to the tables of `Catalog`. `Documentation/SyncFile.md`
/// describes them.
enum SyncCatalog {
    private static let definition = [
        // This table has one row. It contains the identity of the client, its position in the history of the database,
        // and the state of its subscriptions.
        """
        CREATE TABLE martlet_sync (id INTEGER PRIMARY KEY CHECK (id = 1), client INTEGER, secret BLOB, epoch TEXT, \
        cursor TEXT, acknowledged INTEGER NOT NULL, clock INTEGER NOT NULL, clock_offset INTEGER NOT NULL, \
        shown_set INTEGER NOT NULL, wanted_set INTEGER NOT NULL, numbering TEXT NOT NULL, user TEXT, \
        refused_set INTEGER NOT NULL, refusal TEXT NOT NULL, wanted_mark INTEGER NOT NULL, \
        answered_mark INTEGER NOT NULL) STRICT
        """,
        "INSERT INTO martlet_sync VALUES (1, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, '', NULL, 0, '', 0, 0)",
        // Local transactions that the service has not acknowledged.
        """
        CREATE TABLE martlet_outbox (number INTEGER PRIMARY KEY, time INTEGER NOT NULL, base TEXT NOT NULL, \
        operations BLOB NOT NULL) STRICT
        """,
        // The subscriptions of two sets: the set that selected the objects in the file, and the newest set. Times are
        // in seconds since 2001.
        """
        CREATE TABLE martlet_subscriptions (number INTEGER NOT NULL, position INTEGER NOT NULL, type TEXT NOT NULL, \
        condition BLOB NOT NULL, name TEXT, created REAL NOT NULL, updated REAL NOT NULL, \
        PRIMARY KEY (number, position)) STRICT, WITHOUT ROWID
        """,
        // Links to objects that are not in the file. The property of the holder does not show them. 'value' is NULL for
        // a link property. For an `AnyRealmValue` or a collection, it is the whole value with all of its links.
        """
        CREATE TABLE martlet_unresolved (holder_type INTEGER NOT NULL, holder INTEGER NOT NULL, \
        property TEXT NOT NULL, target_type INTEGER NOT NULL, target ANY NOT NULL, value BLOB, \
        PRIMARY KEY (holder_type, holder, property, target_type, target)) STRICT, WITHOUT ROWID
        """,
        // The positions of the elements of lists. `Documentation/SyncProtocol.md` defines these positions.
        """
        CREATE TABLE martlet_positions (type INTEGER NOT NULL, owner INTEGER NOT NULL, property TEXT NOT NULL, \
        positions BLOB NOT NULL, PRIMARY KEY (type, owner, property)) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX martlet_unresolved_targets ON martlet_unresolved (target_type, target)",
    ]

    /// Makes the file of the connection a synchronized file. Called in a transaction.
    static func create(_ connection: Connection) throws {
        for statement in definition { try connection.execute(statement) }
        try setFormat(Catalog.syncedFormat, connection)
    }

    /// Makes the file of the connection a file without synchronization. Called in a transaction.
    static func remove(_ connection: Connection) throws {
        let tables = [
            "martlet_sync", "martlet_outbox", "martlet_subscriptions", "martlet_unresolved", "martlet_positions",
        ]
        for table in tables {
            try connection.execute("DROP TABLE \(table)")
        }
        try setFormat(Catalog.format, connection)
    }

    private static func setFormat(_ format: Int64, _ connection: Connection) throws {
        try connection.execute("UPDATE martlet_meta SET file_format = \(format)")
        try connection.execute("PRAGMA user_version = \(format)")
    }
}
