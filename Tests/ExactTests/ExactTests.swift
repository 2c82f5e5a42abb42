import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// Random operations against random observers: what every observer is told leads exactly from what it knew to what there
/// is, values included, and every modification it is told of was written.
///
/// `MARTLET_EXACT` is the number of runs, `MARTLET_EXACT_SEED` the seed of the first. A run that fails is made shorter
/// before it is shown; where the program traps instead, `MARTLET_EXACT_TRACE` says which seed it was at.
@Suite("exactness by machine")
struct ExactTests {
    @Test("N47 N71 N84 N88 N91 N99 whatever happens, what observers are told is exact")
    func exact() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["MARTLET_EXACT"].flatMap { Int($0) } ?? 500
        let first = environment["MARTLET_EXACT_SEED"].flatMap { UInt64($0) } ?? 1
        var (calls, changes) = (0, 0)
        for seed in first..<first + UInt64(count) {
            let steps = Plan.steps(seed)
            if environment["MARTLET_EXACT_TRACE"] != nil {
                try FileHandle.standardError.write(contentsOf: Data("\(seed) \(steps.count)\n".utf8))
            }
            let outcome = try Machine.run(steps)
            calls += outcome.calls
            changes += outcome.changes
            guard let failure = outcome.failure else { continue }
            let (shortest, reason) = try Shrinking.shortest(steps, failure)
            Issue.record(
                """
                seed \(seed): \(reason)
                \(shortest.map { "    \($0)" }.joined(separator: "\n"))
                """)
            return
        }
        // A machine that tells nobody anything finds nothing.
        #expect(calls > changes / 20 && calls > count)
    }
}

/// What a seed stands for.
enum Plan {
    static func steps(_ seed: UInt64) -> [Step] {
        var random = SeededGenerator(seed)
        let hasAfar = seed.isMultiple(of: 4)
        var steps: [Step] = [.write((0..<12).map { _ in Operation(&random) }, .here)]
        for _ in 0..<Int.random(in: 4...10, using: &random) { steps.append(.watch(WatcherPlan(&random))) }
        if Bool.random(using: &random) { steps.append(.refresh) }
        for _ in 0..<45 { steps.append(step(&random, hasAfar)) }
        return steps
    }

    private static func step(_ random: inout SeededGenerator, _ hasAfar: Bool) -> Step {
        let operations = (0..<Int.random(in: 1...4, using: &random)).map { _ in Operation(&random) }
        return switch Int.random(in: 0..<40, using: &random) {
        case 0..<13: .write(operations, .here)
        case 13..<20: .write(operations, hasAfar && Bool.random(using: &random) ? .afar : .there)
        case 20..<22: .silent(operations, Int.random(in: 0..<60, using: &random))
        case 22: .cancelled(operations)
        case 23: .nested(operations, Int.random(in: 0..<60, using: &random))
        case 24..<26: .turn
        case 26..<28: .settle
        case 28..<30: .watch(WatcherPlan(&random))
        case 30: .end(Int.random(in: 0..<60, using: &random))
        case 31: Bool.random(using: &random) ? .invalidate : .autorefresh(Bool.random(using: &random))
        default: .refresh
        }
    }
}

/// SplitMix64 (Steele et al. 2014).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x2545_F491_4F6C_DD1D }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Makes a failing run shorter: leaves out whatever is not needed for some failure.
enum Shrinking {
    static func shortest(_ steps: [Step], _ failure: String) throws -> (steps: [Step], failure: String) {
        var (best, reason) = (steps, failure)
        var runs = 0
        func fails(_ candidate: [Step]) throws -> Bool {
            runs += 1
            guard runs < 600, let failure = try Machine.run(candidate).failure else { return false }
            (best, reason) = (candidate, failure)
            return true
        }
        var size = best.count / 2
        while size > 0 {
            var start = 0
            while start < best.count {
                var candidate = best
                candidate.removeSubrange(start..<min(start + size, best.count))
                if try !fails(candidate) { start += size }
            }
            size /= 2
        }
        for position in best.indices.reversed() {
            for operation in (best[position].operations ?? []).indices.reversed() {
                var operations = best[position].operations ?? []
                operations.remove(at: operation)
                var candidate = best
                candidate[position] = best[position].with(operations)
                _ = try fails(candidate)
            }
        }
        return (best, reason)
    }
}
