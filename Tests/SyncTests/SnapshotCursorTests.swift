import MartletSyncProtocol
import MartletSyncService
import MartletValues
import Testing

@Suite("Sync: cursors")
struct SnapshotCursorTests {
    private func snapshot(_ text: String) throws -> SnapshotCursor { try #require(SnapshotCursor(SyncCursor(text))) }

    @Test("a snapshot contains the transactions below its xmax that were not open")
    func contents() throws {
        let snapshot = try snapshot("10:20:10,15")
        #expect((5...22).filter { snapshot.contains($0) } == [5, 6, 7, 8, 9, 11, 12, 13, 14, 16, 17, 18, 19])
    }

    @Test(
        "a snapshot is converted back to the text of its cursor",
        arguments: [
            "1:1:", "10:20:10,15", "1:1::0", "10:20:10,15:-9223372036854775808",
            "9223372036854775807:9223372036854775807:",
        ])
    func texts(text: String) throws { #expect(try snapshot(text).cursor.text == text) }

    @Test(
        "texts that PostgreSQL does not write are refused",
        arguments: [
            "", ":", "::", "1:2", "a:2:", "2:1:", "1:2:2", "2:5:1", "1:9:3,3", "1:9:4,3", "1:9:3,", "+1:2:", "1:2:3:4",
            "0:1:", "1:1:::", "1:1::", "1:1::a", "1:1::+1", "1:1::01", "1:1::1:1", "1:1::9223372036854775808",
            "9223372036854775808:9223372036854775808:", " 1:2:",
        ])
    func refused(text: String) { #expect(SnapshotCursor(SyncCursor(text)) == nil) }

    @Test("a cursor with more than 10,000 open transactions is refused")
    func tooLong() {
        let open = (1...10_001).map { "\($0)" }.joined(separator: ",")
        #expect(SnapshotCursor(SyncCursor("1:20000:\(open)")) == nil)
    }

    @Test("a restricted snapshot contains the same transactions below the limit, and no transactions from the limit on")
    func restriction() throws {
        #expect(try snapshot("10:20:10,15").restricted(below: 14).cursor.text == "10:14:10")
        #expect(try snapshot("10:20:10,15").restricted(below: 8).cursor.text == "8:8:")
        #expect(try snapshot("10:20:10,15").restricted(below: 25).cursor.text == "10:20:10,15")
        #expect(try snapshot("10:20:10,15:7").restricted(below: 14).cursor.text == "10:14:10:7")
    }

    @Test("the text for PostgreSQL has no checksum")
    func plainText() throws {
        #expect(try snapshot("10:20:10,15:7").snapshot == "10:20:10,15")
        #expect(try snapshot("10:20:10,15:7").checksum == 7)
    }
}

@Suite("Sync: touches")
struct TouchTests {
    private let address = ObjectAddress(type: 0, key: .integer(1))

    private func entry(_ old: Int64?, _ new: Int64?, isTouch: Bool = false) -> LogEntry {
        func values(_ number: Int64?) -> [ValuePath: SyncValue]? {
            number.map { [ValuePath(1): .scalar(.integer($0))] }
        }
        return LogEntry(
            address: address, old: values(old), new: values(new),
            origin: isTouch ? .init(client: 7, upload: 1) : nil, isTouch: isTouch)
    }

    private func rows(_ entries: [LogEntry]) -> [[ValuePath: SyncValue]] {
        ClientChanges(entries, for: 7) { _, _ in true }.rows.map(\.values)
    }

    private func value(_ number: Int64) -> [ValuePath: SyncValue] { [ValuePath(1): .scalar(.integer(number))] }

    @Test("the values of a touch are sent if no other transaction has changed the object")
    func alone() {
        #expect(rows([entry(5, 5, isTouch: true)]) == [value(5)])
        let changes = ClientChanges([entry(nil, nil, isTouch: true)], for: 7) { _, _ in true }
        #expect(changes.leaving == [address])
    }

    @Test("the values of a touch are ignored if another transaction has changed the object before or after the touch")
    func besideChanges() {
        #expect(rows([entry(nil, 6), entry(nil, nil, isTouch: true)]) == [value(6)])
        #expect(rows([entry(5, 5, isTouch: true), entry(5, 6)]) == [value(6)])
        #expect(rows([entry(5, 6), entry(5, 5, isTouch: true), entry(6, 7)]) == [value(7)])
    }

    @Test("the old values of an object come from its first change, and not from an earlier touch")
    func oldValues() {
        let entries = [entry(6, 6, isTouch: true), entry(5, 6)]
        let left = ClientChanges(entries, for: 8) { _, values in values[ValuePath(1)] == .scalar(.integer(5)) }
        #expect(left.leaving == [address])
    }
}
