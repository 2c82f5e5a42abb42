import MartletSchema
import Testing

@Suite("Lint: BadIndex")
struct BadIndexTests {
    @Test("impossible, redundant and repeated indexes are found MRT0305")
    func findings() throws {
        try expectFindings(
            of: .badIndex,
            """
            enums:
              Size: [small, large]
            objects:
              Dog:
                primaryKey: id
                index: [id, name, size, name, data, owner, tags]
            #~          ^^ warning MRT0305: 'id' is the primary key, which always has an index; remove it from 'index'
            #~  safe @13+4 ""
            #~                          ^^^^ warning MRT0305: 'name' is listed twice; keep one
            #~  note @17+4 it occurs here first
            #~  safe @27+6 ""
            #~                                ^^^^ warning MRT0305: 'data' is 'Data', which cannot have an index; remove it from 'index'
            #~  note @11:7+4 'data' is declared here
            #~  safe @33+6 ""
            #~                                      ^^^^^ warning MRT0305: 'owner' is a link, which always has an index; remove it from 'index'
            #~  note @12:7+5 'owner' is declared here
            #~  safe @39+7 ""
            #~                                             ^^^^ warning MRT0305: 'tags' is 'List<Int>', which cannot have an index; remove it from 'index'
            #~  note @13:7+4 'tags' is declared here
            #~  safe @46+6 ""
                properties:
                  id: Int
                  name: String
                  size: Size
                  data: Data
                  owner: Dog?
                  tags: List<Int>
                  age: {type: Int, fullText: true}
            #~                     ^^^^^^^^ warning MRT0305: 'fullText' requires a 'String', and 'age' is 'Int'; remove 'fullText'
            #~  safe @22+16 ""
                  story: {type: String?, fullText: true}
              Cat:
                index:
                  - name
                  - name # again
            #~      ^^^^ warning MRT0305: 'name' is listed twice; keep one
            #~  note @18:9+4 it occurs here first
            #~  safe @7+7 ""
                properties:
                  name: String

            """)
    }

    @Test("redundant uniqueness constraints are found MRT0305")
    func unique() throws {
        try expectFindings(
            of: .badIndex,
            """
            objects:
              Cat:
                primaryKey: id
                unique: [[name, age], [age, name], [id], [name]]
            #~                         ^^^ warning MRT0305: these are unique together already; remove the list
            #~  note @15+4 they occur here first
            #~                                      ^^ warning MRT0305: the primary key is unique without being listed; remove the list
                properties:
                  id: Int
                  name: String
                  age: Int

            """)
    }
}
