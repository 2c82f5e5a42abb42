import MartletSchema
import Testing

@Suite("Lint: UnusedEnumsAndCascadeCycles")
struct UnusedEnumsAndCascadeCyclesTests {
    @Test("unused enums and cycles of cascades are found MRT0505")
    func findings() throws {
        try expectFindings(
            of: .unusedOrCyclic,
            """
            enums:
              Used: [a]
              Listed: [a]
              Ignored: [a]
              Unused: [a]
            #~^^^^^^ warning MRT0505: no property uses the enum 'Unused'; use it or remove it
            objects:
              Dog:
                properties:
                  a: Used
                  b: List<Listed>
                  cat: {type: Cat?, onDelete: cascade}
            #~    ^^^ warning MRT0505: deletions cascade in a cycle, through Dog.cat and Cat.dog; break it with 'nullify'
                ignored:
                  c: Ignored = a
              Cat:
                properties: {dog: {type: Dog?, onDelete: cascade}}
              Bird:
                properties: {dog: {type: Dog?, onDelete: cascade}, egg: {type: Egg?, onDelete: cascade}}
              Egg:
                properties: {bird: {type: Bird?, onDelete: nullify}}

            """)
    }
}
