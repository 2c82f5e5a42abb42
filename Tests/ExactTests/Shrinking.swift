/// Makes a failing program shorter: leaves out whatever is not needed for some failure.
enum Shrinking {
    struct Result {
        var program: Program
        var failure: String

        /// What the program does and what observers are told, line by line, up to the failure.
        func text() throws -> String {
            let outcome = try Machine.run(program, tellsStory: true)
            let setting = [
                program.hasShortChunks ? "lists have chunks of two" : nil,
                program.searchesAlways ? "rows are searched for" : nil,
            ].compactMap { $0 }
            return (setting + outcome.story + [outcome.failure ?? failure]).map { "    \($0)" }.joined(separator: "\n")
        }
    }

    static func shortest(_ program: Program, _ failure: String) throws -> Result {
        var best = Result(program: program, failure: failure)
        var runs = 0
        func fails(_ steps: [Step]) throws -> Bool {
            runs += 1
            var candidate = best.program
            candidate.steps = steps
            guard runs < 1_000, let failure = try Machine.run(candidate).failure else { return false }
            best = Result(program: candidate, failure: failure)
            return true
        }
        var size = 0
        // What was needed may be needless once something else is gone.
        while size != best.program.size, runs < 1_000 {
            size = best.program.size
            try leaveOutSteps({ best.program.steps }, fails)
            try leaveOutOperations({ best.program.steps }, fails)
        }
        return best
    }

    private static func leaveOutSteps(_ steps: () -> [Step], _ fails: ([Step]) throws -> Bool) throws {
        var size = max(1, steps().count / 2)
        while size > 0 {
            var start = 0
            while start < steps().count {
                var candidate = steps()
                candidate.removeSubrange(start..<min(start + size, candidate.count))
                if try !fails(candidate) { start += size }
            }
            size /= 2
        }
    }

    private static func leaveOutOperations(_ steps: () -> [Step], _ fails: ([Step]) throws -> Bool) throws {
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
