import Foundation
import Testing

@testable import ChaosWorker

/// Processes that write to one file and watch it, stopped and killed at random: what was acknowledged stays, versions have
/// one order, and every observer is told exactly what changed.
///
/// `MARTLET_CHAOS` is the number of processes to kill, `MARTLET_CHAOS_SEED` what random choices are made of. Time is not
/// made of it, so that a seed shows the same only more or less.
@Suite("chaos")
struct ChaosTests {
    /// Processes killed before a new file is begun.
    private static let killsPerFile = 100

    @Test("N141 N27 N29 N38 N47 N71 O4 whichever process is killed, acknowledged commits stay and changes are exact")
    func chaos() throws {
        let environment = ProcessInfo.processInfo.environment
        let kills = environment["MARTLET_CHAOS"].flatMap { Int($0) } ?? 12
        let seed = environment["MARTLET_CHAOS_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999)
        print("chaos: \(kills) kills, seed \(seed): make chaos KILLS=\(kills) SEED=\(seed)")
        let executable = try #require(Self.worker(), "build the whole package first: swift build --build-tests")
        var totals = Storm.Totals()
        var (acknowledged, unacknowledged, states, leaps) = (0, 0, 0, 0)
        var round: UInt64 = 0
        while totals.kills < kills {
            let folder = Self.root.appending(path: ".build/chaos/\(seed)-\(round)")
            try? FileManager.default.removeItem(at: folder)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let storm = Storm(executable, folder.path, seed &+ round &* 1_000_003)
            do {
                try storm.run(kills: min(Self.killsPerFile, kills - totals.kills))
                let judgement = try Judgement(storm.past, folder.path)
                acknowledged += judgement.acknowledged
                unacknowledged += judgement.unacknowledged
                states += judgement.states
                leaps += judgement.leaps
            } catch {
                Issue.record("seed \(seed), file \(round): \(error); the file and the journals are in \(folder.path)")
                return
            }
            totals += storm.totals
            round += 1
            try FileManager.default.removeItem(at: folder)
        }
        print(
            "chaos: \(totals.kills) processes killed and \(totals.stops) stopped, \(round) files, "
                + "\(acknowledged) transactions acknowledged and there, \(unacknowledged) there unacknowledged, "
                + "\(states) versions seen, \(leaps) leaps beyond what the file remembers, "
                + "\(totals.calms) times at rest, the lock file lost \(totals.lockLosses) times")
        // A storm in which nothing happens finds nothing.
        #expect(acknowledged > totals.kills && states > totals.kills)
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private final class Here {}

    /// The program beside the tests, wherever the build system puts these.
    static func worker() -> URL? {
        let places = [CommandLine.arguments[0], Bundle.main.bundlePath, Bundle(for: Here.self).bundlePath]
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
