import Foundation
import Testing

/// Threads that take turns as a seed or a plan says: whatever the order, what was stored is there, versions follow one another,
/// observers are told exactly what happened, snapshots stay as they are, nothing is kept in use, and nobody waits for ever.
///
/// `MARTLET_SCHEDULES` is the number of random programs, `MARTLET_SCHEDULES_SEED` the seed of the first, `MARTLET_PREEMPTIONS`
/// how often the baton is taken from a thread in the small ones. What fails is made shorter before it is shown.
@Suite("threads in every order", .serialized)
struct ScheduleTests {
    private static let seeds = 400

    @Test("N2 N13 N22 N27 N36 random programs on random courses")
    func chance() throws {
        let environment = ProcessInfo.processInfo.environment
        let seeds = environment["MARTLET_SCHEDULES"].flatMap { Int($0) } ?? Self.seeds
        let first = environment["MARTLET_SCHEDULES_SEED"].flatMap { UInt64($0) } ?? 1
        var count = Exploring.Count()
        for seed in first..<first + UInt64(seeds) {
            if environment["MARTLET_SCHEDULES_TRACE"] != nil { print("seed \(seed)") }
            guard let finding = try Exploring.course(seed, of: Program(seed: seed), &count) else { continue }
            let shortest = try Exploring.shortest(finding)
            Issue.record("seed \(seed): \(shortest.failure)\n\(try shortest.text())")
            return
        }
        print("schedules: \(count.text)")
        // Threads that hardly ever meet, or are never told of anything, prove nothing.
        #expect(count.writes > count.runs && count.tellings > count.runs / 2 && count.decisions > count.runs * 20)
    }

    @Test("N2 N13 N22 N27 every course of a small program with few preemptions", arguments: Program.small)
    func courses(name: String, program: Program) throws {
        var count = Exploring.Count()
        // With two, most have some thousand courses.
        let preemptions = Self.preemptions ?? (Program.withTwo.contains(name) ? 2 : 1)
        let finding = try Exploring.everyCourse(of: program, preemptions: preemptions, &count)
        if let finding { Issue.record("\(name): \(finding.failure)\n\(try finding.text())") }
        print("schedules: \(name): \(count.text)")
    }

    private static let preemptions = ProcessInfo.processInfo.environment["MARTLET_PREEMPTIONS"].flatMap { Int($0) }

    @Test("the same plan makes the same course, and a course found by chance can be told by its plan")
    func replay() throws {
        for seed: UInt64 in 1...10 {
            let program = Program(seed: seed)
            let found = try Run.outcome(program, Course(seed: seed), tellsStory: true)
            let again = try Run.outcome(program, Course(planned: found.decisions.plan), tellsStory: true)
            #expect(found.story == again.story)
            #expect(found.decisions.map(\.chosen) == again.decisions.map(\.chosen))
        }
    }

    @Test("threads that wait for each other are noticed, with what each waits for")
    func deadlock() {
        let baton = Baton(Course(seed: 1))
        let first = Flag()
        let second = Flag()
        baton.run([
            (
                "one",
                {
                    baton.wait("the first") { first.isSet }; second.isSet = true
                }
            ),
            (
                "other",
                {
                    baton.wait("the second") { second.isSet }; first.isSet = true
                }
            ),
        ])
        #expect(
            baton.failure == "nobody can go on: 'one 0' waits for the first, 'other 1' waits for the second")
    }

    // Sendable: used by the holder of the baton.
    private final class Flag: @unchecked Sendable {
        var isSet = false
    }
}
