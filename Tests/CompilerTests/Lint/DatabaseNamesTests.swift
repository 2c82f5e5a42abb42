import MartletSchema
import Testing

@Suite("Lint: DatabaseNames")
struct DatabaseNamesTests {
    @Test("names that are equal in SQL are found MRT0704")
    func findings() throws {
        try expectFindings(
            of: .databaseName,
            """
            objects:
              Dog:
                primaryKey: id
                sync: both
                properties:
                  id: Int
                  homeTown: String
                  home_town: String
            #~    ^^^^^^^^^ warning MRT0704: 'Dog.homeTown' and 'Dog.home_town' are both 'home_town' in the database of the service; rename one
            #~  note @7:7+8 the other one
                  toys: List<String>
              DogToys:
            #~^^^^^^^ warning MRT0704: 'Dog.toys' and 'DogToys' are both 'dog_toys' in the database of the service; rename one
            #~  note @9:7+4 the other one
                primaryKey: id
                sync: upload
                properties: {id: Int}

            """)
    }

    @Test("the names of unsynchronized types and of local properties are not compared MRT0704")
    func localNames() throws {
        try expectFindings(
            of: .databaseName,
            """
            objects:
              Dog:
                primaryKey: id
                sync: both
                properties: {id: Int, homeTown: String, home_town: {type: String?, sync: none}}
              Cat:
                primaryKey: id
                properties: {id: Int, homeTown: String, home_town: String}

            """)
    }
}
