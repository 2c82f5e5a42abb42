#if MARTLET_SEEDED_BUGS
    import Foundation
    import MartletEngine
    import Testing

    /// Whether the machine finds a mistake: 'make exact-bugs' runs this once for each, in a process of its own.
    @Suite("seeded bugs")
    struct SeededBugTests {
        /// What was found, as a line for the table, and the program that shows it.
        @Test("the bug that is switched on is found")
        func found() throws {
            let environment = ProcessInfo.processInfo.environment
            guard let name = environment["MARTLET_SEEDED_BUG"] else { return }
            let bug = try #require(SeededBug.allCases.first { $0.name == name }, "there is no bug '\(name)'")
            let count = environment["MARTLET_EXACT"].flatMap { UInt64($0) } ?? 2_000
            say("looking for \(bug.rawValue)")
            if bug.isOfSchemas { return try findWithSchemas(bug, count) }
            for seed in 1...count {
                // Some bugs stop the program.
                say("seed \(seed)")
                let program = Program(seed: seed)
                guard let failure = try Machine.run(program).failure else { continue }
                let shortest = try Shrinking.shortest(program, failure)
                say("\(name)|\(bug.rawValue)|\(seed)|\(shortest.program.size)")
                say(try shortest.text())
                return
            }
            say("not found")
            Issue.record("\(count) programs do not find '\(name)': \(bug.rawValue)")
        }

        private func findWithSchemas(_ bug: SeededBug, _ count: UInt64) throws {
            for seed in 1...count {
                say("seed \(seed)")
                let program = SchemaMachine.Program(seed: seed)
                guard try SchemaMachine.run(program).failure != nil else { continue }
                let shortest = try SchemaMachine.shortest(program)
                say("\(bug.name)|\(bug.rawValue)|\(seed)|\(shortest.steps.count)")
                say(try SchemaMachine.run(shortest).failure ?? "")
                return
            }
            say("not found")
            Issue.record("\(count) programs do not find '\(bug.name)': \(bug.rawValue)")
        }

        private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
    }
#endif
