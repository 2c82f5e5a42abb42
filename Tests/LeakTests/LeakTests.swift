import Foundation
import Testing

private let leakSeconds = ProcessInfo.processInfo.environment["MARTLET_LEAKS"].flatMap { Double($0) }

/// Repeats typical work with a Realm (`EverydayWork`) and measures the resources of the process. A resource that grows
/// with the number of rounds is leaked.
///
/// The environment variable `MARTLET_LEAKS` is the duration in seconds. The process must do nothing else during this
/// time. So the suite is disabled if the variable is not set.
@Suite("leaks", .enabled(if: leakSeconds != nil, "make leaks"))
struct LeakTests {
    /// The memory that the caches of the system use. Dispatch keeps up to 1,024 freed blocks of 64 bytes per thread,
    /// and the Swift runtime keeps the metadata of the types that were used.
    private static let allowedCacheBytes = 700_000
    /// The growth that is allowed per round. If each notification of a round leaked one small object, the growth would
    /// exceed this limit.
    private static let allowedBytesPerRound = 200
    /// The number of additional idle threads that Dispatch and the concurrency runtime may keep. This number varies. A
    /// leak of one thread per round would add dozens of threads.
    private static let allowedThreads = 8
    private static let roundsPerBatch = 4

    @Test("everyday work on one run loop and on new run loops leaks no memory, descriptors, threads or files")
    func everydayWork() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-leaks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let work = EverydayWork(folder: folder)
        nonisolated(unsafe) var series = FootprintSeries(roundsPerBatch: Self.roundsPerBatch)
        let deadline = Date(timeIntervalSinceNow: leakSeconds ?? 0)
        try onRunLoopThread {
            while Date() < deadline || series.footprints.count < 12 {
                for number in 0..<Self.roundsPerBatch / 2 {
                    try work.round(number)
                    try onRunLoopThread { try work.round(number) }
                }
                series.footprints.append(Footprint(folder: folder.path))
            }
        }
        let bytes = series.growth(of: \.bytes)
        print("leaks: minimum of the bytes in use in each eighth of the rounds: \(series.eighths(of: \.bytes))")
        print(
            "leaks: \(series.footprints.count * Self.roundsPerBatch) rounds, \(bytes) bytes of growth in \(series.rounds) of them, "
                + "\(series.footprints.last?.bytes ?? 0) bytes in use, descriptors \(series.growth(of: \.descriptors)), "
                + "threads \(series.growth(of: \.threads)), files \(series.growth(of: \.files))")
        #expect(bytes < Self.allowedCacheBytes + Self.allowedBytesPerRound * series.rounds)
        #expect(series.growth(of: \.descriptors) <= 0)
        #expect(series.growth(of: \.threads) <= Self.allowedThreads)
        #expect(Self.allowedThreads < series.rounds / 2, "too few rounds to distinguish leaked and idle threads")
        #expect(series.growth(of: \.files) <= 0)
    }
}
