#if MARTLET_SEEDED_BUGS
    import Foundation
    import MartletEngine
    import Testing

    /// Checks that random programs find a `SeededBug`, a bug that is compiled into the library only for this test.
    /// 'make exact-bugs' runs this test once for each bug, in a separate process.
    @Suite("seeded bugs")
    struct SeededBugTests {
        /// Prints a line for the table of 'make exact-bugs', and the shortest program that fails.
        @Test("random programs find the seeded bug that is enabled")
        func found() throws {
            let environment = ProcessInfo.processInfo.environment
            guard let name = environment["MARTLET_SEEDED_BUG"] else { return }
            let bug = try #require(SeededBug.allCases.first { $0.name == name }, "there is no bug '\(name)'")
            let count = environment["MARTLET_EXACT"].flatMap { UInt64($0) } ?? 2_000
            printLine("looking for \(bug.rawValue)")
            if bug.needsRandomSchemas { return try findWithSchemas(bug, count) }
            for seed in 1...count {
                // Some bugs cause a trap. The last printed seed is then the seed that failed.
                printLine("seed \(seed)")
                let program = Program(seed: seed)
                guard let failure = try ModelRunner.run(program).failure else { continue }
                let shortest = try Shrinker.shortest(program, failure)
                printLine("\(name)|\(bug.rawValue)|\(seed)|\(shortest.program.size)")
                printLine(try shortest.text())
                return
            }
            printLine("not found")
            Issue.record("\(count) programs do not find '\(name)': \(bug.rawValue)")
        }

        private func findWithSchemas(_ bug: SeededBug, _ count: UInt64) throws {
            for seed in 1...count {
                printLine("seed \(seed)")
                let program = SchemaModelRunner.Program(seed: seed)
                guard try SchemaModelRunner.run(program).failure != nil else { continue }
                let shortest = try SchemaModelRunner.shortest(program)
                printLine("\(bug.name)|\(bug.rawValue)|\(seed)|\(shortest.steps.count)")
                printLine(try SchemaModelRunner.run(shortest).failure ?? "")
                return
            }
            printLine("not found")
            Issue.record("\(count) programs do not find '\(bug.name)': \(bug.rawValue)")
        }

        private func printLine(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
    }
#endif
