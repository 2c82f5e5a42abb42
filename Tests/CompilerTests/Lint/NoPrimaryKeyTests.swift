import MartletSchema
import Testing

@Suite("Lint: NoPrimaryKey")
struct NoPrimaryKeyTests {
    @Test("object types without a primary key are found MRT0501")
    func findings() throws {
        try expectFindings(
            of: .noPrimaryKey,
            """
            objects:
              Dog:
                primaryKey: id
                properties: {id: Int}
              Cat:
            #~^^^ warning MRT0501: 'Cat' has no primary key; write 'primaryKey:' with the property that identifies it
            #~  help write 'primaryKey: id' and 'id: ObjectId = new'
                properties: {id: Int, home: Home?}
            embedded:
              Home:
                properties: {street: String}

            """)
    }
}
