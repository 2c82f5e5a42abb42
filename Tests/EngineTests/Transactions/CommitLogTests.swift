import MartletSQLite
import MartletValues
import Testing

@testable import MartletEngine

@Suite("changes between versions")
struct CommitLogTests {
    /// The keys of inserted notes.
    private func inserted(_ changes: ChangeSet?, _ process: VirtualProcess) -> [ObjectKey]? {
        guard let id = process.coordinator.schema["Note"]?.id else { return nil }
        return changes.map { $0.tables[id].map { Array($0.inserted) } ?? [] }
    }

    private func changes(_ process: VirtualProcess, _ start: Version, _ end: Version) throws -> [ObjectKey]? {
        if process.handle == nil { try process.refresh() }
        guard let handle = process.handle else { return nil }
        return inserted(try process.coordinator.changes(after: start, through: end, handle)?.changes, process)
    }

    @Test("a process reads its own changes from memory, and the changes of other processes from the file")
    func bothSources() throws {
        let folder = try TestFolder()
        let writer = try VirtualProcess(folder.path())
        let other = try VirtualProcess(folder.path())
        try other.refresh()
        let start = try #require(other.handle?.version)
        for number in 0..<6 { try writer.add("\(number)", tags: ["a"]) }
        let end = try #require(writer.handle?.version)
        try other.refresh()
        for process in [writer, other] {
            #expect(try changes(process, start, end) == [1, 2, 3, 4, 5, 6])
            #expect(try changes(process, start + 2, end - 1) == [3, 4, 5])
            #expect(try changes(process, end, end) == [])
        }
        let merged = try #require(
            other.handle.flatMap { try other.coordinator.changes(after: start, through: end, $0) })
        #expect(merged.changes.collections.count == 6)
    }

    @Test("commits of two processes are merged into one change set")
    func interleaved() throws {
        let folder = try TestFolder()
        let one = try VirtualProcess(folder.path())
        let two = try VirtualProcess(folder.path())
        try one.refresh()
        let start = try #require(one.handle?.version)
        for number in 0..<10 { try (number % 3 == 0 ? one : two).add("\(number)") }
        try one.refresh()
        try two.refresh()
        let end = try #require(one.handle?.version)
        for first in start...end {
            for last in first...end {
                let expected = (first..<last).map { Int64($0 - start + 1) }
                #expect(try changes(one, first, last) == expected)
                #expect(try changes(two, first, last) == expected)
            }
        }
    }

    @Test("if some of the change sets were deleted, the changes between two versions are unknown as a whole N151")
    func retention() throws {
        let folder = try TestFolder()
        let writer = try VirtualProcess(folder.path()) { $0.environment.changeRetention = 5 }
        let reader = try VirtualProcess(folder.path())
        try reader.refresh()
        let start = try #require(reader.handle?.version)
        for number in 0..<12 { try writer.add("\(number)") }
        let end = try #require(writer.handle?.version)
        try reader.refresh()
        #expect(try changes(reader, start, end) == nil)
        #expect(try changes(reader, end - 6, end) == nil)
        #expect(try changes(reader, end - 5, end) == [8, 9, 10, 11, 12])
        #expect(try reader.integer("SELECT count(*) FROM martlet_changes") == 5)
        #expect(try changes(reader, end, end + 1) == nil, "the version is not committed yet")
    }

    @Test("old change sets are deleted several at a time, and at least as many as configured are kept N151")
    func deletion() throws {
        let folder = try TestFolder()
        let writer = try VirtualProcess(folder.path()) { $0.environment.changeRetention = 160 }
        var counts: [Int64] = []
        for number in 0..<400 {
            try writer.add("\(number)")
            counts.append(try writer.integer("SELECT count(*) FROM martlet_changes") ?? 0)
        }
        #expect(counts.max() == 169)
        #expect(counts.suffix(200).min() == 160)
        let deletions = zip(counts, counts.dropFirst()).count { $1 < $0 }
        #expect(deletions == 24)
    }

    @Test("commits that were dropped from memory are read from the file")
    func longHistory() throws {
        let folder = try TestFolder()
        let writer = try VirtualProcess(folder.path())
        try writer.refresh()
        let start = try #require(writer.handle?.version)
        for number in 0..<400 { try writer.add("\(number)") }
        let end = try #require(writer.handle?.version)
        #expect(try changes(writer, start, end)?.count == 400)
        #expect(try changes(writer, end - 10, end)?.count == 10)
    }

    @Test("changes between versions are unknown if one of the change sets was too large or is damaged")
    func unreadable() throws {
        let folder = try TestFolder()
        let writer = try VirtualProcess(folder.path())
        for number in 0..<4 { try writer.add("\(number)") }
        let end = try #require(writer.handle?.version)
        try writer.write {
            try $0.handle.read {
                try $0.run("UPDATE martlet_changes SET changes = NULL WHERE version = \(end - 1)")
                try $0.run("UPDATE martlet_changes SET changes = x'ffffff' WHERE version = \(end - 2)")
            }
        }
        let reader = try VirtualProcess(folder.path())
        #expect(try changes(reader, end - 1, end) == [4])
        #expect(try changes(reader, end - 2, end) == nil)
        #expect(try changes(reader, end - 3, end - 2) == nil)
        #expect(try changes(reader, end - 4, end - 3) == [1])
    }

    @Test("if a previous row is recorded several times, the first values are kept")
    func oldRows() {
        var images = RowImages()
        images.insertIfAbsent([.integer(1)], of: 7, in: 1)
        images.insertIfAbsent([.integer(2)], of: 7, in: 1)
        var later = RowImages()
        later.insertIfAbsent([.integer(3)], of: 7, in: 1)
        later.insertIfAbsent([.integer(4)], of: 8, in: 1)
        images.merge(later, unlessTouchedBy: [])
        #expect(images.row(7, in: 1) == [.integer(1)])
        #expect(images.row(8, in: 1) == [.integer(4)])
    }

    @Test("a previous row is unknown if an earlier commit changed the row without recording it")
    func unknownRows() {
        let withoutImage = ChangeSet(tables: [1: TableChanges(modified: [.init(columns: ColumnSet(0), keys: [8])])])
        var later = RowImages()
        later.insertIfAbsent([.integer(3)], of: 7, in: 1)
        later.insertIfAbsent([.integer(4)], of: 8, in: 1)
        var images = RowImages()
        images.merge(later, unlessTouchedBy: [withoutImage])
        #expect(images.row(7, in: 1) == [.integer(3)])
        #expect(images.row(8, in: 1) == nil)
    }
}
