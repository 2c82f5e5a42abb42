import Foundation
import Testing

@testable import ChaosWorker

/// Suspends (SIGSTOP) and kills processes at random while they write and observe one file. Acknowledged commits must
/// remain, all processes must see the versions in the same order, and every notification must report exactly the
/// changes since the previous one.
///
/// The environment variable `MARTLET_CHAOS` is the number of processes to kill. `MARTLET_CHAOS_SEED` is the seed of the
/// random choices. The seed does not determine the timing, so two runs with the same seed are similar, but not
/// identical.
@Suite("crash tests")
struct ChaosTests {
    /// After this number of killed processes, the test checks the file and continues with a new file.
    private static let killsPerFile = 100

    @Test("acknowledged commits remain and changes are exact when processes are killed N141 N27 N29 N38 N47 N71 O4")
    func chaos() throws {
        let environment = ProcessInfo.processInfo.environment
        let kills = environment["MARTLET_CHAOS"].flatMap { Int($0) } ?? 12
        let seed = environment["MARTLET_CHAOS_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999)
        print("chaos: \(kills) kills, seed \(seed): make chaos KILLS=\(kills) SEED=\(seed)")
        let executable = try #require(Self.worker(), "build the whole package first: swift build --build-tests")
        var totals = CrashTest.Totals()
        var (acknowledged, unacknowledged, observedVersions, retentionGaps) = (0, 0, 0, 0)
        var round: UInt64 = 0
        while totals.kills < kills {
            let folder = Self.root.appending(path: ".build/chaos/\(seed)-\(round)")
            try? FileManager.default.removeItem(at: folder)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let crashTest = CrashTest(executable, folder.path, seed &+ round &* 1_000_003)
            do {
                try crashTest.run(kills: min(Self.killsPerFile, kills - totals.kills))
                let checker = try HistoryChecker(crashTest.endedWorkers, folder.path)
                acknowledged += checker.acknowledged
                unacknowledged += checker.unacknowledged
                observedVersions += checker.observedVersions
                retentionGaps += checker.retentionGaps
            } catch {
                Issue.record("seed \(seed), file \(round): \(error); the file and the journals are in \(folder.path)")
                return
            }
            totals += crashTest.totals
            round += 1
            try FileManager.default.removeItem(at: folder)
        }
        print(
            "chaos: \(totals.kills) processes killed and \(totals.suspensions) suspended, \(round) files, "
                + "\(acknowledged) transactions acknowledged and stored, \(unacknowledged) stored but not acknowledged, "
                + "\(observedVersions) versions seen or committed, "
                + "\(retentionGaps) notifications after some change sets were deleted, "
                + "\(totals.quietChecks) checks without writes, "
                + "lock file deleted or replaced \(totals.lockFileChanges) times")
        // Without this check, a run in which almost nothing happened would pass.
        #expect(acknowledged > totals.kills && observedVersions > totals.kills)
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private final class BundleToken {}

    /// Finds the executable of the worker in the folder of the test bundle or in a folder above it. Returns nil if the
    /// executable has not been built.
    static func worker() -> URL? {
        let places = [CommandLine.arguments[0], Bundle.main.bundlePath, Bundle(for: BundleToken.self).bundlePath]
        for place in places {
            var folder = URL(fileURLWithPath: place).resolvingSymlinksInPath()
            for _ in 0..<4 {
                let candidate = folder.appendingPathComponent("ChaosWorker")
                if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
                folder.deleteLastPathComponent()
            }
        }
        return nil
    }
}
