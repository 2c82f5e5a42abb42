import ModelTesting

/// Shortens a failing program: removes each step and operation that is not necessary for a failure.
enum Shrinker {
    struct Result {
        var program: Program
        var failure: String

        /// The trace of the program up to the failure: its operations, and the calls of observers.
        func text() throws -> String {
            let outcome = try ModelRunner.run(program, recordsTrace: true)
            let setting = [
                program.hasShortChunks ? "chunks have at most two elements" : nil,
                program.neverScans ? "rows and elements are found by searching for them, never by a scan" : nil,
            ].compactMap { $0 }
            return (setting + outcome.trace + [outcome.failure ?? failure]).map { "    \($0)" }.joined(separator: "\n")
        }
    }

    static func shortest(_ program: Program, _ failure: String) throws -> Result {
        var best = Result(program: program, failure: failure)
        var runs = 0
        func fails(_ steps: [Step]) throws -> Bool {
            runs += 1
            var candidate = best.program
            candidate.steps = steps
            guard runs < 1_000, let failure = try ModelRunner.run(candidate).failure else { return false }
            best = Result(program: candidate, failure: failure)
            return true
        }
        var size = 0
        // The loop repeats, because removing one part may make another part unnecessary.
        while size != best.program.size, runs < 1_000 {
            size = best.program.size
            _ = try shrink(best.program.steps, fails: fails)
            try removeOperations({ best.program.steps }, fails)
        }
        return best
    }

    private static func removeOperations(_ steps: () -> [Step], _ fails: ([Step]) throws -> Bool) throws {
        for position in steps().indices.reversed() {
            for operation in (steps()[position].operations ?? []).indices.reversed() {
                var candidate = steps()
                guard var operations = candidate[position].operations, operations.count > 1 else { continue }
                operations.remove(at: operation)
                candidate[position] = candidate[position].with(operations)
                _ = try fails(candidate)
            }
        }
    }
}
