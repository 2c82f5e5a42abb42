import Foundation

/// Repeats an idiom within a budget of time.
///
/// Other work on the machine can only add time. Therefore the result is the smallest median of several rounds. Short
/// executions are measured in batches, so that the resolution of the clock does not matter.
struct MeasuringClock {
    /// The seconds for one idiom at one size.
    let budget: Double
    /// Whether the CPU time of the process is measured instead of the elapsed time.
    let countsCPU: Bool
    private let rounds = 6
    private let largestRound = 100
    private let batchSeconds = 0.0001
    /// After this number of seconds, no further warm-up execution begins.
    private let warmUpSeconds = 1.0

    func measure(_ expected: Int, _ body: () throws -> Int) throws -> Measurement {
        var found: Int?
        func seconds(_ batch: Int) throws -> Double {
            let start = now
            for _ in 0..<batch {
                let check = try body()
                if check != expected, found == nil { found = check }
            }
            return now - start
        }
        let warmUp = try seconds(1)
        // The second query that needs a column reads the column into memory. Only the third query finds the column
        // there, so the first three executions are the warm-up.
        var spent = warmUp
        for _ in 0..<2 where spent < warmUpSeconds { spent += try seconds(1) }
        let batch = warmUp > batchSeconds * 100 ? 1 : try max(1, Int(batchSeconds / max(seconds(1), 1e-8)))
        let (best, samples) = try smallestMedian(warmUp) { _ in try seconds(batch) / Double(batch) }
        return Measurement(
            nanoseconds: best * 1e9, executions: samples * batch, expected: expected, found: found)
    }

    func measureEach(
        _ expected: Int, _ before: (Int) throws -> Void, _ after: (Int) throws -> Void, _ body: (Int) throws -> Int
    ) throws -> Measurement {
        var found: Int?
        func seconds(_ execution: Int) throws -> Double {
            try before(execution)
            let start = now
            let check = try body(execution)
            let seconds = now - start
            try after(execution)
            if check != expected, found == nil { found = check }
            return seconds
        }
        let (best, samples) = try smallestMedian(try seconds(0)) { try seconds($0 + 1) }
        return Measurement(nanoseconds: best * 1e9, executions: samples, expected: expected, found: found)
    }

    /// Calls `sample` until the budget is used, and returns the smallest median of the rounds.
    ///
    /// `warmUp` is the time of the first execution. It can include reads from the file that later executions do not
    /// repeat. Therefore this time is the result only if it exceeds 50 times the budget.
    private func smallestMedian(
        _ warmUp: Double, _ sample: (Int) throws -> Double
    ) throws -> (best: Double, samples: Int) {
        if warmUp > budget * 50 { return (warmUp, 1) }
        let start = now
        var best = Double.infinity, count = 0
        for round in 1...rounds {
            let end = budget * Double(round) / Double(rounds)
            var samples: [Double] = []
            repeat {
                samples.append(try sample(count))
                count += 1
            } while samples.count < largestRound && now - start < end
            best = min(best, samples.sorted()[samples.count / 2])
            if now - start > budget { break }
        }
        return (best, count)
    }

    private var now: Double {
        var time = timespec()
        clock_gettime(countsCPU ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
