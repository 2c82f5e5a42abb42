import MartletSchema
import Testing

@Suite("Lint: IndexCost")
struct IndexCostTests {
    @Test("an index on a property with few values is reported, and so are types with more than eight indexes MRT0502")
    func findings() throws {
        try expectFindings(
            of: .indexCost,
            """
            enums:
              Two: [a, b]
              Three: [a, b, c]
            objects:
              Dog:
                index: [flag, two, three]
            #~          ^^^^ note MRT0502: 'flag' has only 2 values, so an index speeds up no query; remove it
            #~  safe @13+6 ""
            #~                ^^^ note MRT0502: 'two' has only 2 values, so an index speeds up no query; remove it
            #~  safe @17+5 ""
                properties: {flag: Bool, two: Two?, three: Three}
              Cat:
                index: [a1, a2, a3, a4, a5, a6, a7, a8]
                properties: {a1: Int, a2: Int, a3: Int, a4: Int, a5: Int, a6: Int, a7: Int, a8: Int}
              Bird:
            #~^^^^ note MRT0502: 'Bird' has 9 indexes; more than 8 make writes slow, so drop some
                index: [a1, a2, a3, a4, a5, a6, a7, a8, a9]
                properties: {a1: Int, a2: Int, a3: Int, a4: Int, a5: Int, a6: Int, a7: Int, a8: Int, a9: Int}
              Fish:
                index: [a1, a2, a3, a4, a5, a6, a7, a8, a1]
                properties: {a1: Int, a2: Int, a3: Int, a4: Int, a5: Int, a6: Int, a7: Int, a8: Int}

            """)
    }
}
