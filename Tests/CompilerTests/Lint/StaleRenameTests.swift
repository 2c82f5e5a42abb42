import MartletSchema
import Testing

@Suite("Lint: StaleRename")
struct StaleRenameTests {
    @Test("renames that cannot be applied are found MRT0602")
    func findings() throws {
        try expectFindings(
            of: .staleRename,
            """
            objects:
              Dog:
                renamedFrom: Cat
            #~               ^^^ warning MRT0602: 'Cat' is still declared, so nothing can be renamed from it; remove 'renamedFrom'
            #~  note @12:3+3 'Cat' is declared here
            #~  suggested @1-4:1 ""
                properties:
                  a: {type: Int, renamedFrom: b}
            #~                                ^ warning MRT0602: 'b' is still declared, so nothing can be renamed from it; remove 'renamedFrom'
            #~  note @6:7+1 'b' is declared here
            #~  suggested @20+16 ""
                  b: {type: Int, renamedFrom: b}
            #~                                ^ warning MRT0602: 'b' is renamed from itself; remove 'renamedFrom'
            #~  safe @20+16 ""
                  c: {type: Int, renamedFrom: z}
                  d:
                    renamedFrom: z
            #~                   ^ warning MRT0602: two declarations are renamed from 'z'; remove one 'renamedFrom'
            #~  note @7:35+1 the other one
            #~  suggested @1-10:1 ""
                    type: Int
                  e: {type: Int, renamedFrom: gone}
              Cat:
                properties: {a: {type: Int, renamedFrom: c}}
            enums:
              Size: {cases: [a], renamedFrom: Size}
            #~                                ^^^^ warning MRT0602: 'Size' is renamed from itself; remove 'renamedFrom'
            #~  safe @20+19 ""

            """)
    }
}
