import MartletEngine
import ModelTesting
import Testing

@Suite("ChangeSetCodec")
struct ChangeSetCodecTests {
    @Test(
        "random change sets round-trip, and each is always encoded to the same bytes",
        arguments: 0..<150 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let changes = randomChanges(&random)
        let bytes = ChangeSetCodec.encode(changes)
        let decoded = try #require(ChangeSetCodec.decode(bytes))
        #expect(decoded == changes)
        #expect(ChangeSetCodec.encode(decoded) == bytes)
        for (table, rows) in decoded.tables {
            rows.inserted.checkInvariants()
            rows.deleted.checkInvariants()
            rows.modified.forEach { $0.keys.checkInvariants() }
            #expect(changes.tables[table] == rows)
        }
    }

    @Test("minimum and maximum keys and columns round-trip")
    func extremes() {
        var changes = ChangeSet()
        changes.tables[.max] = TableChanges(
            inserted: [.min, .max], deleted: [.max - 1, .min + 1, 0],
            modified: [.init(columns: [0, 63, 64, 500], keys: [5]), .init(columns: .all, keys: [7, 8, 9])])
        changes.tables[0] = TableChanges()
        let last = CollectionID(table: 0, property: 2, owner: .max)
        changes.collections[last] = ListEditScript([.move(from: 1, to: 4_000_000_000), .swap(3, 0), .replace(at: 2)])
        changes.collections[CollectionID(table: 0, property: 2, owner: .min)] = ListEditScript([.clear(oldCount: 1)])
        changes.changedTargets[LinkID(table: .max, property: 0)] = [.min, .max]
        #expect(ChangeSetCodec.decode(ChangeSetCodec.encode(changes)) == changes)
    }

    @Test("truncated and extended bytes are rejected", arguments: 0..<20 as Range<UInt64>)
    func truncatedOrExtendedBytes(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let bytes = ChangeSetCodec.encode(randomChanges(&random))
        for length in 0..<bytes.count { #expect(ChangeSetCodec.decode(Array(bytes[..<length])) == nil) }
        #expect(ChangeSetCodec.decode(bytes + [0]) == nil)
    }

    @Test("decoding damaged bytes never traps, and gives a valid change set or nil", arguments: 0..<40 as Range<UInt64>)
    func damagedBytes(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let bytes = ChangeSetCodec.encode(randomChanges(&random))
        for _ in 0..<300 {
            var damaged = bytes
            for _ in 0..<random.number(1..<4) {
                damaged[random.number(0..<damaged.count)] = UInt8(random.number(0..<256))
            }
            checkValid(damaged)
            checkValid([2] + (0..<random.number(0..<40)).map { _ in UInt8(random.number(0..<256)) })
            checkValid([2] + (0..<random.number(0..<40)).map { _ in UInt8(random.number(0..<4)) })
        }
    }

    @Test("malformed, overlapping and overflowing changes are rejected")
    func invalidChanges() {
        let huge: [UInt8] = [0x01] + [UInt8](repeating: 0xFF, count: 9) + [0x01]
        let refused: [[UInt8]] = [
            [], [1, 0, 0, 0], [2, 0, 0], [2, 0, 0, 0, 0],
            // A key that is modified in two groups, and a key that is both modified and inserted.
            [2, 1, 0, 0, 0, 2, 2, 1, 1, 4, 2, 2, 1, 4, 0, 0], [2, 1, 0, 1, 4, 0, 1, 2, 1, 1, 4, 0, 0],
            // A run of 2^64 keys, two tables with the same number, and one link that occurs twice.
            [2, 1, 0, 1] + huge + [0, 0, 0, 0], [2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            [2, 0, 0, 2, 0, 0, 0, 0, 0, 0],
        ]
        for bytes in refused { #expect(ChangeSetCodec.decode(bytes) == nil, "\(bytes)") }
        #expect(ChangeSetCodec.decode([2, 0, 0, 0]) == ChangeSet())
    }

    private func checkValid(_ bytes: [UInt8]) {
        guard let changes = ChangeSetCodec.decode(bytes) else { return }
        for rows in changes.tables.values {
            rows.inserted.checkInvariants()
            rows.deleted.checkInvariants()
            rows.modified.forEach { $0.keys.checkInvariants() }
        }
        #expect(ChangeSetCodec.decode(ChangeSetCodec.encode(changes)) == changes)
    }

    private func randomChanges(_ random: inout SeededRandom) -> ChangeSet {
        var changes = ChangeSet()
        for _ in 0..<random.number(0..<4) {
            var builder = TableChangesBuilder()
            let span = random.number(1..<300)
            for _ in 0..<random.number(0..<60) {
                let key = ObjectKey(random.number(-span..<span)) * (random.isTrue(oneIn: 40) ? 1 << 50 : 1)
                switch random.number(0..<6) {
                case 0: for offset in 0..<ObjectKey(random.number(1..<50)) { builder.insert(key + offset) }
                case 1: builder.delete(key)
                case 2: builder.modify(key, .all)
                default: builder.modify(key, random.number(0..<(random.isTrue(oneIn: 10) ? 130 : 5)))
                }
            }
            changes.tables[random.number(0..<9)] = builder.finish()
        }
        for _ in 0..<random.number(0..<12) {
            let owner = ObjectKey(random.number(-30..<500))
            let collection = CollectionID(table: random.number(0..<3), property: random.number(0..<3), owner: owner)
            var script = ListEditScript()
            for _ in 0..<random.number(0..<9) {
                let at = random.number(0..<500)
                let count = random.number(1..<4)
                let kinds: [ListEdit] = [
                    .insert(at: at, count: count), .remove(at: at, count: count), .replace(at: at, count: count),
                    .move(from: at, to: count), .swap(at, count), .clear(oldCount: at),
                ]
                script.append(kinds[random.number(0..<(random.isTrue(oneIn: 5) ? 6 : 5))])
            }
            changes.collections[collection] = script
        }
        for _ in 0..<random.number(0..<3) {
            let link = LinkID(table: random.number(0..<3), property: random.number(0..<3))
            changes.changedTargets[link] = KeySet(
                (0..<random.number(0..<9)).map { _ in ObjectKey(random.number(-30..<500)) })
        }
        return changes
    }
}
