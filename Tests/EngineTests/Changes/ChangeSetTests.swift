import MartletEngine
import ModelTesting
import Testing

@Suite("ChangeSet")
struct ChangeSetTests {
    private let list = CollectionID(table: 1, property: 4, owner: 7)
    private let appended = ListEditScript([.insert(at: 0, count: 1)])

    @Test("change sets merge table by table and collection by collection N40")
    func merging() {
        var first = ChangeSet(tables: [1: TableChanges(inserted: [1]), 2: TableChanges(deleted: [9])])
        first.collections[list] = appended
        var second = ChangeSet(tables: [1: TableChanges(deleted: [1]), 2: TableChanges(inserted: [9])])
        second.collections[list] = ListEditScript([.insert(at: 1, count: 2)])
        first.merge(second)
        #expect(first.tables == [2: TableChanges(inserted: [9], deleted: [9])])
        #expect(first.collections[list]?.edits == [.insert(at: 0, count: 3)])
        #expect(first.touches(table: 1) && first.touches(table: 2) && !first.touches(table: 3))
    }

    @Test("merging drops edits of collections whose rows were inserted and deleted within the merged change sets")
    func collectionsOfTransientRows() {
        let inserted = ChangeSet(tables: [1: TableChanges(inserted: [7])], collections: [list: appended])
        let deleted = ChangeSet(tables: [1: TableChanges(deleted: [7])], collections: [list: appended])
        let replaced = ChangeSet(tables: [1: TableChanges(inserted: [7], deleted: [7])], collections: [list: appended])
        #expect(ChangeSet.merging([inserted, deleted]).isEmpty)
        #expect(ChangeSet.merging([inserted, replaced]).collections == [list: appended])
        #expect(ChangeSet.merging([replaced, deleted]).collections[list]?.growth == 2)
        #expect(ChangeSet.merging([deleted, inserted]).collections == [list: appended])
        #expect(ChangeSet.merging([deleted, inserted, deleted]).collections[list]?.growth == 2)
        #expect(ChangeSet.merging([inserted, deleted, inserted]) == inserted)
    }

    @Test("merging an empty change set changes nothing")
    func emptySets() {
        let changes = ChangeSet(tables: [3: TableChanges(inserted: [1])], collections: [list: appended])
        var merged = changes
        merged.merge(ChangeSet())
        #expect(merged == changes)
        #expect(ChangeSet.merging([]).isEmpty)
        #expect(ChangeSet(tables: [1: TableChanges()], collections: [list: ListEditScript()]).isEmpty)
    }

    @Test("merging change sets one by one equals merging all of them in one call", arguments: 0..<60 as Range<UInt64>)
    func mergingIsAssociative(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var exists = Set<ObjectKey>((0..<6).filter { _ in random.isTrue(oneIn: 2) })
        var versions: [ChangeSet] = []
        for _ in 0..<8 {
            var builder = TableChangesBuilder()
            var version = ChangeSet()
            for key in 0..<6 as Range<ObjectKey> where random.isTrue(oneIn: 2) {
                if exists.contains(key) {
                    builder.delete(key)
                    exists.remove(key)
                }
                if random.isTrue(oneIn: 2) {
                    builder.insert(key)
                    exists.insert(key)
                    version.collections[CollectionID(table: 0, property: 0, owner: key)] = appended
                }
            }
            version.tables[0] = builder.finish()
            versions.append(version)
        }
        var merged = ChangeSet()
        for version in versions { merged.merge(version) }
        #expect(merged == ChangeSet.merging(versions))
        let halves = [versions[..<4], versions[4...]].map { ChangeSet.merging(Array($0)) }
        let mergedHalves = ChangeSet.merging(halves)
        #expect(mergedHalves.tables == merged.tables)
        // The two results may contain different edits for the lists of deleted rows. If a row was inserted and deleted
        // within one half, the merged half omits the edits of the lists of the row.
        let gone = (merged.tables[0]?.deleted ?? []).subtracting(merged.tables[0]?.inserted ?? [])
        #expect(
            mergedHalves.collections.filter { !gone.contains($0.key.owner) }
                == merged.collections.filter { !gone.contains($0.key.owner) })
    }

    @Test("edits that cancel each other leave an empty script, so the collection still counts as written")
    func cancellingEdits() {
        let inserted = ChangeSet(collections: [list: ListEditScript([.insert(at: 2, count: 1)])])
        let removed = ChangeSet(collections: [list: ListEditScript([.remove(at: 2, count: 1)])])
        let merged = ChangeSet.merging([inserted, removed])
        #expect(merged.collections == [list: ListEditScript()] && merged.isEmpty)
        #expect(ChangeSet.merging([merged, ChangeSet()]).collections == [list: ListEditScript()])
    }
}
