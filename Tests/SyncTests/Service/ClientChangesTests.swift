import MartletSyncProtocol
import MartletSyncService
import MartletValues
import Testing

@Suite("the collections that the service sends with changes")
struct ClientChangesTests {
    private let dog = ObjectAddress(type: 0, key: .integer(1))

    private func values(_ group: Int64) -> [ValuePath: SyncValue] { [ValuePath(0): .scalar(.integer(group))] }

    private func entry(
        _ old: Int64?, _ new: Int64?, _ collections: Set<Int> = [], client: UInt64? = nil, isTouch: Bool = false
    ) -> LogEntry {
        LogEntry(
            address: dog, old: old.map(values), new: new.map(values),
            origin: client.map { .init(client: $0, upload: 1) }, isTouch: isTouch, collections: collections)
    }

    /// The collections of the dog that client 7 needs, if its subscriptions contain the objects of group 1. Nil means
    /// no collection, and an empty set means all collections.
    private func needed(_ entries: LogEntry...) -> Set<Int>? {
        ClientChanges.collections(entries, for: 7) { $1 == values(1) }[dog].map { $0 ?? [] }
    }

    @Test("a client needs all collections of an object that is new to it, and changed collections of known objects Y21")
    func needs() {
        #expect(needed(entry(2, 1)) == [])
        #expect(needed(entry(1, 1, [3]), entry(1, 1, [4])) == [3, 4])
        #expect(needed(entry(1, 1)) == nil)
        #expect(needed(entry(1, 2, [3])) == nil, "the object leaves")
        #expect(needed(entry(2, 2, [3])) == nil)
    }

    @Test("a client needs the changed collections of a created object, and all collections of a recreated object Y21")
    func creations() {
        #expect(needed(entry(nil, 1)) == nil)
        #expect(needed(entry(nil, 1), entry(1, 1, [3])) == [3])
        #expect(needed(entry(1, nil), entry(nil, 1)) == [])
        #expect(needed(entry(nil, 1), entry(1, nil), entry(nil, 1)) == [])
    }

    @Test("a client needs all collections of an object that its own upload names, even without a change Y21")
    func own() {
        #expect(needed(entry(1, 1, client: 7, isTouch: true)) == [])
        #expect(needed(entry(nil, 1, client: 7)) == [])
        #expect(needed(entry(1, 1, client: 8, isTouch: true)) == nil)
    }

    @Test("the row of an object contains the collections that were read for it")
    func rows() {
        let contents: [ObjectAddress: [ValuePath: SyncValue]] = [dog: [ValuePath(3): .list([])]]
        let known = ClientChanges([entry(1, 1, [3])], for: 7, { $1 == values(1) }, contents: contents)
        #expect(known.rows == [SyncRow(address: dog, values: [ValuePath(3): .list([])])])
        let entering = ClientChanges([entry(2, 1)], for: 7, { $1 == values(1) }, contents: contents)
        #expect(entering.rows.first?.values.count == 2)
    }
}
