import MartletSchema
import Testing

@Suite("Lint: LostPrecision")
struct LostPrecisionTests {
    @Test("synchronized properties that store dates or decimal numbers are found MRT0705")
    func findings() throws {
        try expectFindings(
            of: .lostPrecision,
            """
            objects:
              Dog:
                primaryKey: id
                sync: both
                properties:
                  id: Int
                  born: Date?
            #~          ^^^^^ note MRT0705: 'born' is rounded to microseconds by the service; write 'Int' if nanoseconds matter
                  prices: List<Decimal128>
            #~            ^^^^^^^^^^^^^^^^ note MRT0705: 'prices' loses trailing zeros and the sign of zero in the service; write 'String' if they matter
                  seen: {type: Date?, sync: none}
              Cat:
                primaryKey: id
                properties: {id: Int, born: Date}

            """)
    }
}
