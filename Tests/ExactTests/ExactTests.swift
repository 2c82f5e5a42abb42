import ModelTesting
import Testing

@testable import Martlet

/// Runs random operations with random observers. Each change set must lead exactly from the state that the observer
/// knew to the current state, including all values. Each element that is reported as modified must have been written.
///
/// The environment variable `MARTLET_EXACT` is the number of runs, and `MARTLET_EXACT_SEED` is the seed of the first
/// run. The program of a failing run is shortened before it is reported. If a run traps, set the environment variable
/// `MARTLET_EXACT_TRACE`: each run then prints its seed before it begins.
@Suite("exact notifications")
struct ExactTests {
    /// These programs make and report about 20,000 changes in total. `make exact` runs many more programs.
    private static let seeds = 150

    @Test("random operations are reported exactly to every observer N47 N71 N84 N88 N91 N99 N174 K5 K6 K12")
    func exact() throws {
        let campaign = Campaign("MARTLET_EXACT", count: Self.seeds)
        var total = ModelRunner.Outcome()
        let failed = try campaign.firstFailure { seed in
            let program = Program(seed: seed)
            let outcome = try ModelRunner.run(program)
            total.calls += outcome.calls
            total.reported += outcome.reported
            total.changes += outcome.changes
            return outcome.failure.map { (program, $0) }
        }
        if let (seed, (program, failure)) = failed {
            let shortest = try Shrinker.shortest(program, failure)
            Issue.record("seed \(seed): \(shortest.failure)\n\(try shortest.text())")
            return
        }
        print(
            "exactness: \(campaign.count) programs, \(total.changes) changes made, \(total.reported) reported in \(total.calls) calls, "
                + "\(total.changes + total.reported) in all")
        // Without this check, a campaign would also pass if no observer were notified.
        #expect(total.calls > campaign.count && total.reported > total.changes / 20)
    }
}

/// Runs random operations with random observers, on classes that are generated from the seed.
///
/// `MARTLET_EXACT` and `MARTLET_EXACT_SEED` apply here too.
@Suite("exact notifications with random schemas")
struct SchemaExactTests {
    private static let seeds = 120

    @Test("random operations on random classes are reported exactly N47 N53 N84 N91 N98 N99 N100")
    func exact() throws {
        let campaign = Campaign("MARTLET_EXACT", count: Self.seeds)
        var (changes, reported, denied) = (0, 0, 0)
        let failed = try campaign.firstFailure { seed in
            let program = SchemaModelRunner.Program(seed: seed)
            let outcome = try SchemaModelRunner.run(program)
            changes += outcome.changes
            reported += outcome.reported
            denied += outcome.denied
            return outcome.failure == nil ? nil : program
        }
        if let (seed, program) = failed {
            let shortest = try SchemaModelRunner.shortest(program)
            let failure = try SchemaModelRunner.run(shortest).failure ?? ""
            Issue.record(
                """
                seed \(seed): \(failure)
                \(shortest.steps.map { "    \($0)" }.joined(separator: "\n"))
                \(program.schema.facts.joined(separator: "\n"))
                """)
            return
        }
        print(
            "exactness: \(campaign.count) random schemas, \(changes) changes made, \(reported) reported, \(denied) writes denied"
        )
        // With few programs, these numbers can be small by chance.
        if campaign.count >= 100 { #expect(reported > changes / 20 && denied > campaign.count / 10) }
    }
}
