import MartletEngine
import MartletSyncProtocol
import MartletValues
import Testing

@testable import MartletSync

@Suite("checksums of rows")
struct RowSumsTests {
    private static let facts = [
        """
        object Thing
        primaryKey id
        property id Int
        property real Double?
        property small Float
        property date Date?
        property decimal Decimal128?
        property text String?
        property data Data?
        property extra AnyRealmValue
        property numbers List<Double?>
        property marks Set<AnyRealmValue>
        property names Map<String?>
        property spot embedded:Spot?
        property spots List<embedded:Spot>
        property note String? sync=none
        property other link:Thing?
        """,
        """
        embedded Spot
        property x Double
        property tags List<Int>
        property kinds Set<Int>
        """,
    ]
    private static let schema = AgreedSchema(
        synced: ["Thing"], in: facts.compactMap(SchemaFactsParser.objectType))
    private static let thing = schema.number(of: "Thing") ?? 0
    private static let address = ObjectAddress(type: thing, key: .integer(1))

    private static func property(_ name: String) -> ValuePath {
        ValuePath(schema.types[thing].properties.first { $0.name == name }?.index ?? 0)
    }

    private func sums(_ values: [String: SyncValue], key: Int64 = 1) -> RowSums {
        var summer = RowSummer(Self.schema)
        var row = SyncRow(address: ObjectAddress(type: Self.thing, key: .integer(key)), values: [:])
        for (name, value) in values { row.values[Self.property(name)] = value }
        summer.add(row)
        return summer.sums
    }

    private static func real(_ number: Double) -> SyncValue { .scalar(.real(number)) }
    private static func integer(_ number: Int64) -> SyncValue { .scalar(.integer(number)) }

    @Test("values that are equal for a program and the database have equal checksums")
    func equal() {
        let otherNaN = Double(bitPattern: 0x7FF8_0000_0000_0001)
        let (one, two) = (Self.integer(1), Self.integer(2))
        let pairs: [([String: SyncValue], [String: SyncValue])] = [
            ([:], ["real": .null, "numbers": .list([]), "names": .map([]), "marks": .list([]), "other": .null]),
            (["real": Self.real(.nan)], ["real": Self.real(otherNaN)]),
            (["small": Self.real(.nan)], ["small": Self.real(-.nan)]),
            (["numbers": .elements([element(.real(.nan))])], ["numbers": .elements([element(.real(otherNaN))])]),
            (["marks": .list([one, two])], ["marks": .list([two, one])]),
            (["marks": .list([one])], ["marks": .list([one, Self.real(1)])]),
            (["text": .scalar(.text("a"))], ["text": .scalar(.text("a")), "note": .scalar(.text("local"))]),
            (["text": .scalar(.text("a"))], ["text": .scalar(.text("a")), "id": one]),
            (["spot": spot(kinds: [1, 2])], ["spot": spot(kinds: [2, 1])]),
            (["spot": .embedded([one, .null, .list([])])], ["spot": .embedded([one, .list([]), .null])]),
        ]
        for (left, right) in pairs { #expect(sums(left) == sums(right), "\(left) \(right)") }
    }

    @Test("different values have different checksums")
    func different() {
        let values: [[String: SyncValue]] = [
            [:], ["real": Self.real(0)], ["real": Self.real(-0.0)], ["real": Self.real(.nan)], ["date": Self.real(0)],
            ["text": .scalar(.text(""))], ["data": .scalar(.blob([]))], ["text": .scalar(.text("é"))],
            ["text": .scalar(.text("e\u{301}"))], ["extra": Self.integer(0)], ["extra": Self.real(0)],
            ["extra": .scalar(.text(""))], ["extra": .list([])], ["extra": .list([.null])],
            ["numbers": .elements([element(.null)])], ["numbers": .elements([element(.real(-0.0))])],
            ["numbers": .elements([element(.null, 2)])], ["numbers": .list([.null])],
            ["names": .map([MapEntry(key: "", value: .null)])],
            ["names": .map([MapEntry(key: "", value: .scalar(.text("")))])], ["spot": spot()],
            ["spot": spot(tags: [1, 2])],
            ["spot": spot(tags: [2, 1])], ["spots": .elements([ListElement(position: position(1), value: spot())])],
            ["spot": .embedded([])], ["marks": .list([Self.integer(1)])], ["marks": .list([.null])],
            ["other": .link(Self.address)],
        ]
        let all = values.map { sums($0) }
        for left in all.indices {
            for right in all.indices where left != right {
                #expect(all[left] != all[right], "\(values[left]) \(values[right])")
            }
        }
        #expect(sums([:]) != sums([:], key: 2))
    }

    private func position(_ byte: UInt8) -> ListPosition {
        ListPosition([byte]) ?? ListPosition.between(nil, nil, client: 1)[0]
    }

    private func element(_ value: SQLValue, _ byte: UInt8 = 1) -> ListElement {
        ListElement(position: position(byte), value: .scalar(value))
    }

    private func spot(tags: [Int64] = [], kinds: [Int64] = []) -> SyncValue {
        .embedded([Self.real(1), .list(tags.map(Self.integer)), .list(kinds.map(Self.integer))])
    }

    @Test("checksums do not depend on the order of the rows, and a comparison returns the buckets that differ")
    func order() {
        var (forward, backward, shorter) = (RowSummer(Self.schema), RowSummer(Self.schema), RowSummer(Self.schema))
        let rows = (1...1_000 as ClosedRange<Int64>).map {
            SyncRow(
                address: ObjectAddress(type: Self.thing, key: .integer($0)),
                values: [Self.property("real"): Self.real(Double($0))])
        }
        for row in rows { forward.add(row) }
        for row in rows.reversed() { backward.add(row) }
        for row in rows.dropFirst() { shorter.add(row) }
        #expect(forward.sums == backward.sums && forward.sums.rowCount == 1_000)
        #expect(forward.sums.buckets.count == RowSums.bucketCount)
        #expect(forward.sums.differences(from: backward.sums).isEmpty)
        let differences = forward.sums.differences(from: shorter.sums)
        #expect(differences.count == 1 && differences.first.map { $0.databaseCount - $0.clientCount } == 1)
        #expect(RowSums().differences(from: forward.sums).count == RowSums.bucketCount)
    }

    @Test("the checksums of a file equal those of the downloaded rows, including links to objects not in the file")
    func file() throws {
        let file = try SyncedFile(facts: Self.facts, synced: ["Thing"])
        var state = try file.opened.load()
        let store = try file.opened
        let nan = Self.real(.nan)
        let values: [String: SyncValue] = [
            "real": nan, "small": Self.real(-0.0), "date": Self.real(0.1), "text": .scalar(.text("é\u{1F600}")),
            "data": .scalar(.blob([0, 1])), "extra": .list([.null, .link(Self.missing), Self.integer(3)]),
            "numbers": .elements([element(.real(.nan), 1), element(.null, 2), element(.real(-0.0), 3)]),
            "marks": .list([Self.integer(2), .scalar(.text("a")), .link(Self.missing), Self.real(0.5)]),
            "names": .map([MapEntry(key: "a", value: .null), MapEntry(key: "b", value: .scalar(.text("c")))]),
            "spot": spot(tags: [3, 1], kinds: [5, 4]),
            "spots": .elements([ListElement(position: position(9), value: spot(tags: [1]))]),
            "other": .link(Self.missing),
        ]
        var rows: [SyncRow] = []
        for key in 1...3 as ClosedRange<Int64> {
            var row = SyncRow(address: ObjectAddress(type: Self.thing, key: .integer(key)), values: [:])
            for (name, value) in values { row.values[Self.property(name)] = value }
            rows.append(row)
        }
        state.position = SyncPosition(epoch: "1", cursor: SyncCursor("5"))
        #expect(try store.sums(at: state) == nil, "the file has no set of subscriptions")
        state.shown = ClientState.SubscriptionSet(number: 1)
        try store.commit(DownloadedBatch(rows: rows, leaving: []), state)
        var summer = RowSummer(Self.schema)
        for row in rows { summer.add(row) }
        #expect(try store.sums(at: state) == summer.sums)
        state.position = SyncPosition(epoch: "1", cursor: SyncCursor("6"))
        #expect(try store.sums(at: state) == nil, "the file has another position")
        try store.save(state)
        try file.write(.delete(rows[0].address))
        #expect(try store.sums(at: state) == nil, "the file has an upload that is not acknowledged")
    }

    private static let missing = ObjectAddress(type: thing, key: .integer(99))
}
