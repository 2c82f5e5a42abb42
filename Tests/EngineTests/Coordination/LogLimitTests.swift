import Foundation
import MartletSQLite
import MartletValues
import Synchronization
import Testing

@testable import MartletEngine

@Suite("maximum size of the write-ahead log")
struct LogLimitTests {
    /// A manual clock. It advances only when the engine calls `sleep`, or the test calls `advance`.
    private final class Clock: Sendable {
        private let nanoseconds = Mutex<UInt64>(1)
        private let pause = Mutex<@Sendable () -> Void>({})
        let reports = DatabaseFiles.Reports()

        func now() -> UInt64 { nanoseconds.withLock { $0 } }
        func advance(_ microseconds: UInt32) {
            nanoseconds.withLock { $0 += UInt64(microseconds) * 1_000 }
            pause.withLock { $0 }()
        }
        func onPause(_ body: @escaping @Sendable () -> Void) { pause.withLock { $0 = body } }
    }

    private static let limit = 400_000

    private func open(_ folder: TestFolder, _ clock: Clock, throwing: Bool = false) throws -> VirtualProcess {
        try VirtualProcess(folder.path()) {
            $0.maximumLogBytes = Self.limit
            $0.throwsWhenLogIsFull = throwing
            $0.environment.now = { clock.now() }
            $0.environment.sleep = { clock.advance($0) }
            $0.environment.log = { clock.reports.add($0) }
        }
    }

    private func grow(_ process: VirtualProcess, to bytes: Int = limit + 100_000, _ folder: TestFolder) throws {
        for _ in 0..<300 where StoreFiles.logBytes(folder.path()) < bytes {
            try process.write { try $0.addNote(String(repeating: "x", count: 10_000)) }
        }
    }

    @Test("above the limit, a writer waits until old snapshots end, and restarts the log D30")
    func waits() throws {
        let folder = try TestFolder()
        let clock = Clock()
        let process = try open(folder, clock)
        try process.add("a")
        let old = Mutex(process.handle)
        process.handle = nil
        try grow(process, to: Self.limit - 50_000, folder)
        let pauses = Mutex(0)
        clock.onPause {
            let isTime = pauses.withLock { count in
                count += 1
                return count == 5
            }
            if isTime { old.withLock { $0 = nil } }
        }
        var longest = 0
        for _ in 0..<100 {
            try process.write { try $0.addNote(String(repeating: "y", count: 10_000)) }
            longest = max(longest, StoreFiles.logBytes(folder.path()))
        }
        #expect(pauses.withLock { $0 } >= 5 && longest < Self.limit + 60_000)
        #expect(clock.reports.all == [])
        #expect(try process.integrity == .text("ok"))
    }

    @Test("snapshots that overlap in time do not make the log grow without bound D30")
    func overlapping() throws {
        let folder = try TestFolder()
        let clock = Clock()
        let process = try open(folder, clock)
        // Each snapshot is held for 1.5 s, so that at least one snapshot is held at any time.
        let held = Mutex<[(until: UInt64, handle: SnapshotHandle)]>([])
        clock.onPause {
            let now = clock.now()
            let ended = held.withLock { held in
                defer { held.removeAll { $0.until <= now } }
                return held.filter { $0.until <= now }
            }
            withExtendedLifetime(ended) {}
        }
        var longest = 0
        for _ in 0..<400 {
            try process.write { try $0.addNote(String(repeating: "z", count: 5_000)) }
            if let handle = process.handle { held.withLock { $0.append((clock.now() + 1_500_000_000, handle)) } }
            process.handle = nil
            clock.advance(50_000)
            longest = max(longest, StoreFiles.logBytes(folder.path()))
        }
        #expect(longest < Self.limit * 2, "\(longest)")
        #expect(clock.reports.all == [])
        held.withLock { $0 = [] }
    }

    @Test("a snapshot that never ends is reported once with its holder, and the log grows D31")
    func neverEnds() throws {
        let folder = try TestFolder()
        let clock = Clock()
        let process = try open(folder, clock)
        try process.add("a")
        let old = process.handle
        old?.recordOwner(live: "the reader of 'Old.swift'")
        try grow(process, folder)
        #expect(clock.now() > 2_000_000_000 && clock.now() < 2_200_000_000, "one wait: \(clock.now())")
        #expect(clock.reports.all.count == 1)
        #expect(clock.reports.all.first?.contains("the reader of 'Old.swift'") == true)
        #expect(StoreFiles.logBytes(folder.path()) > Self.limit)
        withExtendedLifetime(old) {}
    }

    @Test("a writer waits again after another process has restarted the log D30 D31")
    func waitsAgain() throws {
        let folder = try TestFolder()
        let clock = Clock()
        let (process, other) = (try open(folder, clock), try open(folder, clock))
        try process.add("a")
        var old = process.handle
        try grow(process, folder)
        let first = clock.now()
        #expect(first > 2_000_000_000)
        withExtendedLifetime(old) {}
        (old, process.handle) = (nil, nil)
        try other.add("b")
        other.handle = nil
        #expect(StoreFiles.logBytes(folder.path()) < Self.limit)
        try process.add("c")
        old = process.handle
        try grow(process, folder)
        #expect(clock.now() - first >= 2_000_000_000)
        withExtendedLifetime(old) {}
    }

    @Test("with 'throwsWhenLogIsFull', a writer throws instead of growing the log, until the log can restart D32")
    func throwing() throws {
        let folder = try TestFolder()
        let clock = Clock()
        let process = try open(folder, clock, throwing: true)
        try process.add("a")
        var old = process.handle
        old?.recordOwner(live: "the reader of 'Old.swift'")
        let error = engineError { try grow(process, folder) }
        #expect(error?.code == .logFull && error?.message.contains("the reader of 'Old.swift'") == true)
        let bytes = StoreFiles.logBytes(folder.path())
        let count = try process.noteCount
        let time = clock.now()
        #expect(engineError { try process.add("refused") }?.code == .logFull)
        #expect(clock.now() == time, "the writer does not wait again for the same snapshot")
        #expect(try process.noteCount == count && StoreFiles.logBytes(folder.path()) == bytes)
        withExtendedLifetime(old) {}
        old = nil
        try process.add("room")
        #expect(try process.noteCount == count + 1 && StoreFiles.logBytes(folder.path()) < Self.limit)
    }
}
