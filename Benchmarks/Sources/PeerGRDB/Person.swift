import GRDB
import Measure

struct Person: Codable, Sendable {
    var id: Int
    var name: String
    var age: Int
    var email: String
    var score: Double
    var isActive: Bool
    var created: Double

    init(_ values: PersonValues) {
        id = values.id
        name = values.name
        age = values.age
        email = values.email
        score = values.score
        isActive = values.isActive
        created = Double(values.createdSeconds)
    }
}

// These conformances are implemented manually, because GRDB's Codable support is several times slower.
extension Person: FetchableRecord, PersistableRecord {
    static let databaseTableName = "person"

    init(row: Row) {
        id = row[0]
        name = row[1]
        age = row[2]
        email = row[3]
        score = row[4]
        isActive = row[5]
        created = row[6]
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
        container["age"] = age
        container["email"] = email
        container["score"] = score
        container["isActive"] = isActive
        container["created"] = created
    }
}

/// Opens a pool with the settings of the other peers: write-ahead log, full durability, and the same cache size.
func openPool(_ file: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.prepareDatabase { db in
        try db.execute(
            sql: "PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY; PRAGMA secure_delete=0")
    }
    let pool = try DatabasePool(path: file, configuration: configuration)
    // After the preparation above, the pool enables write-ahead logging and sets `synchronous` to NORMAL.
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous=FULL") }
    return pool
}

/// Opens a pool and reads all rows of `person` once, so that their pages are cached.
func openWarmPool(_ file: String) throws -> DatabasePool {
    let pool = try openPool(file)
    _ = try pool.read { try Int.fetchOne($0, sql: "SELECT sum(length(email)) FROM person") }
    return pool
}

func createPersonTable(_ pool: DatabasePool, indexed: Bool) throws {
    try pool.write { db in
        try db.execute(sql: personSchema)
        if indexed { try db.execute(sql: personIndexes) }
    }
}
