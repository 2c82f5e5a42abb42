import ConformanceModels
import Foundation
import MartletSQLite
import MartletValues
import Synchronization

@testable import Martlet
@testable import MartletEngine

/// One run of a program on one schedule, and the checks of its results.
// Sendable: used by the current thread, and by the test before the first thread begins and after the last thread ends.
final class Run: @unchecked Sendable {
    struct Outcome {
        let failure: String?
        let decisions: [Decision]
        let trace: [String]
        let writes: Int
        let notifications: Int
    }

    let program: Program
    let threadScheduler: CooperativeScheduler
    let configuration: Realm.Configuration
    var history = VersionHistory()
    /// Frozen Realms, which all threads read.
    var frozen: [Realm] = []
    /// Realms whose threads have ended.
    var realmsOfEndedThreads: [Realm] = []
    var writes = 0
    var notifications = 0
    /// The number of parts of the program that have reached each barrier.
    private var arrivals: [String: Int] = [:]
    private let folder: URL

    private init(_ program: Program, _ schedule: Schedule, _ recordsTrace: Bool) throws {
        self.program = program
        let threadScheduler = CooperativeScheduler(schedule, recordsTrace: recordsTrace)
        self.threadScheduler = threadScheduler
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent("test.realm")
        if program.fileExists { try FileManager.default.copyItem(at: Template.shared.url, to: url) }
        var configuration = Template.configuration(url)
        configuration.environment.checkpointFrames = program.checkpointFrames
        configuration.environment.changeRetention = program.retention
        if let frames = program.logLimit {
            configuration.maximumLogBytes = frames * 4_120
            configuration.throwsWhenLogIsFull = program.failsWhenLogIsFull
        }
        // Every pause advances the clock by 0.7 s, so that a waiting thread reaches its timeout after a few pauses.
        let clock = Clock()
        configuration.environment.driver = threadScheduler.driver
        configuration.environment.now = { clock.time }
        configuration.environment.sleep = { [unowned threadScheduler] _ in
            clock.advance()
            threadScheduler.yieldThread(at: "a pause")
        }
        configuration.environment.log = { [unowned threadScheduler, folder] line in
            threadScheduler.addToTrace(line.replacingOccurrences(of: folder.path, with: ""))
        }
        self.configuration = configuration
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs a program, and checks the file afterwards.
    static func outcome(_ program: Program, _ schedule: Schedule, recordsTrace: Bool = false) throws -> Outcome {
        let run = try Run(program, schedule, recordsTrace)
        run.threadScheduler.run(
            program.parts.enumerated().map { number, part in
                ("part", { PartRunner(number, part, run).perform() })
            })
        if run.threadScheduler.failure == nil { try run.checkFile() }
        if run.threadScheduler.failure == nil, program.logLimit != nil { try run.checkLogLimit(run.configuration.path) }
        return Outcome(
            failure: run.threadScheduler.failure, decisions: run.threadScheduler.decisions,
            trace: run.threadScheduler.trace, writes: run.writes,
            notifications: run.notifications)
    }

    func fail(_ failure: @autoclosure () -> String) { threadScheduler.fail(failure()) }

    /// A barrier: returns when all parts have reached this point.
    func barrier(_ point: String) {
        arrivals[point, default: 0] += 1
        threadScheduler.wait("all parts to reach \(point)") { [self] in arrivals[point] == program.parts.count }
    }

    // MARK: Checks

    static func contents(of realm: Realm) -> Contents {
        Contents(uniqueKeysWithValues: realm.objects(StringKey.self).map { ($0.code, $0.content) })
    }

    /// Checks that a Realm shows exactly the contents that were written up to its version.
    func check(_ realm: Realm) {
        let (version, shown) = (realm.version, Self.contents(of: realm))
        let written = history.contents(at: version)
        if shown != written { fail("version \(version) shows \(shown), but \(written) was written") }
    }

    /// Whether a write failed because the log is full, and the program allows this error.
    func isLogFull(_ error: any Error) -> Bool {
        program.failsWhenLogIsFull && (error as? Realm.Error)?.code == .logFull
    }

    // Called when no old version is in use. A checkpoint can then copy a full log completely, so no write may fail.
    private func checkLogLimit(_ path: String) throws {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [StringKey.self])
        configuration.maximumLogBytes = 4_120
        configuration.throwsWhenLogIsFull = true
        let realm = try Realm(configuration: configuration)
        for _ in 0..<3 { try realm.write { realm.add(StringKey(code: "last"), update: .modified) } }
    }

    /// Checks that only frozen versions and the newest version are pinned. If the file is no longer in use, no version
    /// may be pinned.
    func checkPins(_ coordinator: StoreCoordinator, isInUse: Bool) {
        let pinned = coordinator.locked { $0.pinned }
        let expected = isInUse ? Set(frozen.map(\.version)).union([history.newest]) : []
        if !Set(pinned.keys).isSubset(of: expected) && (history.newest > 0 || !isInUse) {
            fail("versions \(pinned.keys.sorted()) are pinned instead of at most \(expected.sorted())")
        }
        let count = coordinator.locked { state in state.handles.values.count { $0.handle != nil } }
        let counted = pinned.values.reduce(0, +)
        if counted != count { fail("the pins count \(counted) handles, but \(count) exist") }
        let listeners = coordinator.locked { $0.listeners.count }
        if !isInUse && listeners > 0 { fail("\(listeners) closed Realms are still registered as listeners") }
    }

    // Called when all threads have ended.
    private func checkFile() throws {
        let path = configuration.path
        // The file may remain open for a short time: when another test opens a file, it briefly retains all open
        // coordinators.
        let deadline = Date(timeIntervalSinceNow: 10)
        while StoreRegistry.isOpen(path) {
            guard Date() < deadline else { return fail("the file is still open") }
            sched_yield()
        }
        guard FileManager.default.fileExists(atPath: path) else { return }
        let realm = try Realm(configuration: Template.configuration(URL(fileURLWithPath: path)))
        check(realm)
        if realm.version < history.newest {
            fail("the file has version \(realm.version), but \(history.newest) was written")
        }
        let integrity = try realm.context.handle.read { try $0.value("PRAGMA integrity_check") }
        if integrity != .text("ok") { fail("the file is damaged: \(String(describing: integrity))") }
    }
}

/// A clock that advances only when a thread waits.
private final class Clock: Sendable {
    private let value = Atomic<UInt64>(0)

    var time: UInt64 { value.load(ordering: .relaxed) }

    func advance() { value.add(700_000_000, ordering: .relaxed) }
}

/// An empty file that is created once. If the program of a run does not create the file, the run begins with a copy of
/// this file.
private struct Template {
    static let shared = Template()

    let url: URL

    private init() {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
        url = folder.appendingPathComponent("template.realm")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let realm = try? Realm(configuration: Self.configuration(url))
        // The log is not copied, so the file must be complete without it.
        _ = try? realm?.context.coordinator.checkpoint()
    }

    static func configuration(_ url: URL) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: url, objectTypes: [StringKey.self])
        configuration.durability = .off
        configuration.environment.now = { 0 }
        configuration.environment.sleep = { _ in }
        configuration.environment.commitPollMilliseconds = 0
        // Threads wait in the driver. No thread outside of the test ever holds a lock that they need.
        configuration.environment.writeTimeoutMilliseconds = 0
        return configuration
    }
}
