import MartletSchema
import Testing

@Suite("Lint: UnusedEmbedded")
struct UnusedEmbeddedTests {
    @Test("an embedded type is reported if no property of another type uses it MRT0304")
    func findings() throws {
        try expectFindings(
            of: .embedding,
            """
            objects:
              Dog:
                properties: {home: Home?, rooms: List<Room>, doors: Map<Door?>}
            embedded:
              Home:
                properties: {street: String}
              Room:
                properties: {size: Int}
              Door:
                properties: {lock: Lock?}
              Lock:
                properties: {key: Int}
              Roof:
            #~^^^^ warning MRT0304: no property contains the embedded object 'Roof'; use it or remove it
                properties: {height: Int}
              Tower:
            #~^^^^^ warning MRT0304: no property contains the embedded object 'Tower'; use it or remove it
                properties: {above: Tower?}

            """)
    }
}
