import ModelTesting

/// Searches for a schedule on which a program fails, and shortens the program and the schedule.
enum ScheduleExplorer {
    struct Finding {
        var program: Program
        var plan: Schedule.Plan
        var failure: String

        /// The program, and its trace up to the failure.
        func text() throws -> String {
            let outcome = try Run.outcome(program, Schedule(planned: plan), recordsTrace: true)
            let switches = plan.sorted { $0.key < $1.key }.map { "at \($0.key) to \($0.value)" }.joined(separator: ", ")
            let failure = outcome.failure ?? "does not fail again: \(failure)"
            return (["\(program)", "switches: \(switches)"] + outcome.trace + [failure])
                .flatMap { $0.split(separator: "\n") }.map { "    \($0)" }.joined(separator: "\n")
        }
    }

    struct Count {
        var runs = 0
        var writes = 0
        var notifications = 0
        var decisions = 0

        var text: String {
            "\(runs) schedules, \(decisions) decisions, \(writes) writes, \(notifications) calls of observers"
        }

        mutating func add(_ outcome: Run.Outcome) {
            runs += 1
            writes += outcome.writes
            notifications += outcome.notifications
            decisions += outcome.decisions.count
        }
    }

    // MARK: All schedules

    /// Runs every schedule with at most `preemptions` preemptions (Musuvathi and Qadeer 2007), beginning with the
    /// fewest preemptions. Ends when `count` has reached `limit` runs. Returns the first failure, or nil.
    static func everySchedule(
        of program: Program, preemptions: Int, atMost limit: Int = .max, _ count: inout Count
    ) throws -> Finding? {
        var layer: [Schedule.Plan] = [[:]]
        for preemption in 0...preemptions {
            var next: [Schedule.Plan] = []
            while let plan = layer.popLast() {
                guard count.runs < limit else { return nil }
                let outcome = try Run.outcome(program, Schedule(planned: plan))
                count.add(outcome)
                if let failure = outcome.failure { return Finding(program: program, plan: plan, failure: failure) }
                let last = plan.keys.max() ?? -1
                for (number, decision) in outcome.decisions.enumerated() where number > last {
                    let plans = decision.runnable.filter { $0 != decision.defaultChoice }.map { other in
                        plan.merging([number: other]) { $1 }
                    }
                    if decision.isForcedSwitch { layer += plans } else if preemption < preemptions { next += plans }
                }
            }
            layer = next
        }
        return nil
    }

    // MARK: Random schedules

    /// Runs one random schedule. Returns its failure, or nil.
    static func schedule(_ seed: UInt64, of program: Program, _ count: inout Count) throws -> Finding? {
        let outcome = try Run.outcome(program, Schedule(seed: seed))
        count.add(outcome)
        return outcome.failure.map { Finding(program: program, plan: outcome.decisions.plan, failure: $0) }
    }

    // MARK: Shrinking

    /// Searches for a shorter program with fewer switches that fails too.
    static func shortest(_ finding: Finding) throws -> Finding {
        var best = finding
        var runs = Count()
        var size = 0
        while size != best.program.size, runs.runs < 2_000 {
            size = best.program.size
            for part in best.program.parts.indices.reversed() {
                _ = try shrink(best.program.parts[part].steps) { steps in
                    var candidate = best.program
                    candidate.parts[part].steps = steps
                    guard let shorter = try failing(candidate, like: best, &runs) else { return false }
                    best = shorter
                    return true
                }
                guard best.program.parts.count > 1, best.program.parts[part].steps.isEmpty else { continue }
                var candidate = best.program
                candidate.parts.remove(at: part)
                best = try failing(candidate, like: best, &runs) ?? best
            }
        }
        var few = Count()
        if let found = try everySchedule(of: best.program, preemptions: 2, atMost: 600, &few) { return found }
        return try withFewerSwitches(best)
    }

    private static func failing(_ program: Program, like finding: Finding, _ runs: inout Count) throws -> Finding? {
        let outcome = try Run.outcome(program, Schedule(planned: finding.plan))
        runs.add(outcome)
        if let failure = outcome.failure { return Finding(program: program, plan: finding.plan, failure: failure) }
        for seed in 1...40 {
            if let found = try schedule(UInt64(seed), of: program, &runs) { return found }
        }
        return nil
    }

    private static func withFewerSwitches(_ finding: Finding) throws -> Finding {
        var best = finding
        for number in finding.plan.keys.sorted().reversed() {
            var plan = best.plan
            plan[number] = nil
            let outcome = try Run.outcome(best.program, Schedule(planned: plan))
            if let failure = outcome.failure {
                best = Finding(program: best.program, plan: outcome.decisions.plan, failure: failure)
            }
        }
        return best
    }
}
