import ConformanceModels
import Foundation
import MartletSQLite
import Synchronization

@testable import Martlet
@testable import MartletEngine

/// One run of a program on one course, and what must hold of it.
// Sendable: used by the holder of the baton, and by the test before the first thread and after the last.
final class Run: @unchecked Sendable {
    struct Outcome {
        let failure: String?
        let decisions: [Decision]
        let story: [String]
        let writes: Int
        let tellings: Int
    }

    let program: Program
    let baton: Baton
    let configuration: Realm.Configuration
    var ledger = Ledger()
    /// What was frozen, for all threads to read.
    var frozen: [Realm] = []
    /// Realms whose threads have ended.
    var orphans: [Realm] = []
    var writes = 0
    var tellings = 0
    /// How many parts have come to each of the points where all wait for all.
    private var arrivals: [String: Int] = [:]
    private let folder: URL

    private init(_ program: Program, _ course: Course, _ tellsStory: Bool) throws {
        self.program = program
        let baton = Baton(course, tellsStory: tellsStory)
        self.baton = baton
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent("test.realm")
        if program.isFileThere { try FileManager.default.copyItem(at: Template.shared.url, to: url) }
        var configuration = Template.configuration(url)
        configuration.environment.checkpointFrames = program.checkpointFrames
        configuration.environment.changeRetention = program.retention
        if let frames = program.logLimit {
            configuration.maximumLogBytes = frames * 4_120
            configuration.throwsWhenLogIsFull = program.failsWhenLogIsFull
        }
        // Time passes for those who wait, so that a few turns of others are all their patience.
        let clock = Clock()
        configuration.environment.driver = baton.driver
        configuration.environment.now = { clock.time }
        configuration.environment.sleep = { [unowned baton] _ in
            clock.pass()
            baton.pass("a pause")
        }
        configuration.environment.log = { [unowned baton, folder] line in
            baton.note(line.replacingOccurrences(of: folder.path, with: ""))
        }
        self.configuration = configuration
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs a program and looks at what is left of it.
    static func outcome(_ program: Program, _ course: Course, tellsStory: Bool = false) throws -> Outcome {
        let run = try Run(program, course, tellsStory)
        run.baton.run(
            program.parts.enumerated().map { number, part in
                ("part", { Performer(number, part, run).perform() })
            })
        if run.baton.failure == nil { try run.checkFile() }
        if run.baton.failure == nil, program.logLimit != nil { try run.checkRoom(run.configuration.path) }
        return Outcome(
            failure: run.baton.failure, decisions: run.baton.decisions, story: run.baton.story, writes: run.writes,
            tellings: run.tellings)
    }

    func fail(_ failure: @autoclosure () -> String) { baton.fail(failure()) }

    /// Comes back when all parts are here.
    func meet(_ point: String) {
        arrivals[point, default: 0] += 1
        baton.wait("all to come to \(point)") { [self] in arrivals[point] == program.parts.count }
    }

    // MARK: What must hold

    static func world(_ realm: Realm) -> World {
        World(uniqueKeysWithValues: realm.objects(StringKey.self).map { ($0.code, $0.content) })
    }

    /// A Realm shows exactly what was written up to its version.
    func check(_ realm: Realm) {
        let (version, shown) = (realm.version, Self.world(realm))
        let written = ledger.world(version)
        if shown != written { fail("version \(version) shows \(shown), but \(written) was written") }
    }

    /// A write failed because of old versions that are in use, as the program allows.
    func isLogFull(_ error: any Error) -> Bool {
        program.failsWhenLogIsFull && (error as? Realm.Error)?.code == .logFull
    }

    // Nobody uses an older version any more.
    private func checkRoom(_ path: String) throws {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [StringKey.self])
        configuration.maximumLogBytes = 4_120
        configuration.throwsWhenLogIsFull = true
        let realm = try Realm(configuration: configuration)
        for _ in 0..<3 { try realm.write { realm.add(StringKey(code: "last"), update: .modified) } }
    }

    /// Nothing is in use any more but what is frozen, and the newest version.
    func checkPins(_ coordinator: StoreCoordinator, isInUse: Bool) {
        let pinned = coordinator.locked { $0.pinned }
        let expected = isInUse ? Set(frozen.map(\.version)).union([ledger.newest]) : []
        if !Set(pinned.keys).isSubset(of: expected) && (ledger.newest > 0 || !isInUse) {
            fail("versions \(pinned.keys.sorted()) are in use, and at most \(expected.sorted()) should be")
        }
        let count = coordinator.locked { state in state.handles.values.count { $0.handle != nil } }
        let counted = pinned.values.reduce(0, +)
        if counted != count { fail("\(counted) handles are counted, and there are \(count)") }
        let listeners = coordinator.locked { $0.listeners.count }
        if !isInUse && listeners > 0 { fail("\(listeners) Realms listen that have been closed") }
    }

    // When all threads have ended.
    private func checkFile() throws {
        let path = configuration.path
        // Another test that opens a file holds all open ones for a moment.
        let deadline = Date(timeIntervalSinceNow: 10)
        while StoreRegistry.isOpen(path) {
            guard Date() < deadline else { return fail("the file is still open") }
            sched_yield()
        }
        guard FileManager.default.fileExists(atPath: path) else { return }
        let realm = try Realm(configuration: Template.configuration(URL(fileURLWithPath: path)))
        check(realm)
        if realm.version < ledger.newest {
            fail("the file has version \(realm.version), and \(ledger.newest) was written")
        }
        let integrity = try realm.context.handle.read { try $0.value("PRAGMA integrity_check") }
        if integrity != .text("ok") { fail("the file is damaged: \(String(describing: integrity))") }
    }
}

/// A time that goes on when somebody waits.
private final class Clock: Sendable {
    private let value = Atomic<UInt64>(0)

    var time: UInt64 { value.load(ordering: .relaxed) }

    func pass() { value.add(700_000_000, ordering: .relaxed) }
}

/// A file to begin with, made once.
private struct Template {
    static let shared = Template()

    let url: URL

    private init() {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
        url = folder.appendingPathComponent("template.realm")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let realm = try? Realm(configuration: Self.configuration(url))
        // So that nothing of it is in the log, which is not copied.
        _ = try? realm?.context.coordinator.checkpoint()
    }

    static func configuration(_ url: URL) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: url, objectTypes: [StringKey.self])
        configuration.durability = .off
        configuration.environment.now = { 0 }
        configuration.environment.sleep = { _ in }
        configuration.environment.commitPollMilliseconds = 0
        // Who must wait does so with the driver: nobody else may be in the way.
        configuration.environment.writeTimeoutMilliseconds = 0
        return configuration
    }
}
