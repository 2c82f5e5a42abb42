import Foundation
import ModelTesting
import Testing

/// Runs threads one at a time, in an order that a seed or a plan determines. In every order, committed writes are
/// stored, versions are consecutive, notifications are exact, snapshots do not change, no version stays pinned, and no
/// thread waits forever.
///
/// The environment variable `MARTLET_SCHEDULES` is the number of random programs, and `MARTLET_SCHEDULES_SEED` is the
/// seed of the first program. `MARTLET_PREEMPTIONS` is the maximum number of preemptions in the small programs. A
/// failing random program is shortened before it is reported.
@Suite("schedules of threads", .serialized)
struct ScheduleTests {
    private static let seeds = 200

    @Test("random programs are correct on random schedules N2 N13 N22 N27 N36")
    func randomSchedules() throws {
        var count = ScheduleExplorer.Count()
        let failed = try Campaign("MARTLET_SCHEDULES", count: Self.seeds).firstFailure { seed in
            try ScheduleExplorer.schedule(seed, of: Program(seed: seed), &count)
        }
        if let (seed, finding) = failed {
            let shortest = try ScheduleExplorer.shortest(finding)
            Issue.record("seed \(seed): \(shortest.failure)\n\(try shortest.text())")
            return
        }
        print("schedules: \(count.text)")
        // Without this check, runs with few switches or few notifications would pass although they test little.
        #expect(count.writes > count.runs && count.notifications > count.runs / 2 && count.decisions > count.runs * 20)
    }

    @Test("small programs are correct on every schedule with few preemptions N2 N13 N22 N27", arguments: Program.small)
    func smallPrograms(name: String, program: Program) throws {
        var count = ScheduleExplorer.Count()
        // With two preemptions, most programs have thousands of schedules. Only 'make schedules' runs all of them.
        let preemptions = Self.preemptions ?? (Program.withTwoPreemptions.contains(name) ? 2 : 1)
        let limit = Self.preemptions == nil ? Self.schedulesPerProgram : Int.max
        let finding = try ScheduleExplorer.everySchedule(
            of: program, preemptions: preemptions, atMost: limit, &count)
        if let finding { Issue.record("\(name): \(finding.failure)\n\(try finding.text())") }
        print("schedules: \(name): \(count.text)")
    }

    private static let schedulesPerProgram = 150

    private static let preemptions = ProcessInfo.processInfo.environment["MARTLET_PREEMPTIONS"].flatMap { Int($0) }

    @Test("a plan repeats a schedule exactly, and every random schedule has a plan")
    func replay() throws {
        for seed: UInt64 in 1...10 {
            let program = Program(seed: seed)
            let found = try Run.outcome(program, Schedule(seed: seed), recordsTrace: true)
            let again = try Run.outcome(program, Schedule(planned: found.decisions.plan), recordsTrace: true)
            #expect(found.trace == again.trace)
            #expect(found.decisions.map(\.chosen) == again.decisions.map(\.chosen))
        }
    }

    @Test("the report of a deadlock says what each thread waits for")
    func deadlock() {
        let threadScheduler = CooperativeScheduler(Schedule(seed: 1))
        let first = Flag()
        let second = Flag()
        threadScheduler.run([
            (
                "one",
                {
                    threadScheduler.wait("the first") { first.isSet }; second.isSet = true
                }
            ),
            (
                "other",
                {
                    threadScheduler.wait("the second") { second.isSet }; first.isSet = true
                }
            ),
        ])
        #expect(
            threadScheduler.failure == "deadlock: 'one 0' waits for the first, 'other 1' waits for the second")
    }

    // Sendable: used by the current thread only.
    private final class Flag: @unchecked Sendable {
        var isSet = false
    }
}
