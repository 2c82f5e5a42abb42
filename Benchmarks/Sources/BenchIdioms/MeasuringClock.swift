/// Repeats an idiom within a budget of time.
///
/// Other work on the machine can only add time. Therefore the result is the smallest median of several rounds. Short
/// executions are measured in batches, so that the resolution of the clock does not matter.
struct MeasuringClock {
    /// The seconds for one idiom at one size.
    let budget: Double
    private let rounds = 6
    private let largestRound = 100
    private let batchSeconds = 0.0001

    func measure(_ expected: Int, _ body: () throws -> Int) throws -> Measurement {
        var found: Int?
        func seconds(_ batch: Int) throws -> Double {
            let start = ContinuousClock.now
            for _ in 0..<batch {
                let check = try body()
                if check != expected, found == nil { found = check }
            }
            return (ContinuousClock.now - start).seconds
        }
        let warmUp = try (seconds(1), seconds(1))
        let batch = max(1, Int(batchSeconds / max(warmUp.1, 1e-8)))
        let (best, samples) = try smallestMedian(first: warmUp.1) { _ in try seconds(batch) / Double(batch) }
        return Measurement(
            nanoseconds: best * 1e9, executions: samples * batch, expected: expected, found: found)
    }

    func measureEach(
        _ expected: Int, _ before: (Int) throws -> Void, _ after: (Int) throws -> Void, _ body: (Int) throws -> Int
    ) throws -> Measurement {
        var found: Int?
        func seconds(_ execution: Int) throws -> Double {
            try before(execution)
            let start = ContinuousClock.now
            let check = try body(execution)
            let seconds = (ContinuousClock.now - start).seconds
            try after(execution)
            if check != expected, found == nil { found = check }
            return seconds
        }
        let warmUp = try (seconds(0), seconds(1))
        let (best, samples) = try smallestMedian(first: warmUp.1) { try seconds($0 + 2) }
        return Measurement(nanoseconds: best * 1e9, executions: samples, expected: expected, found: found)
    }

    /// Calls `sample` until the budget is used, and returns the smallest median of the rounds. `first` is a sample that
    /// was taken before; it is the result if one sample takes longer than the budget.
    private func smallestMedian(
        first: Double, _ sample: (Int) throws -> Double
    ) throws -> (best: Double, samples: Int) {
        let start = ContinuousClock.now
        var best = Double.infinity, count = 0
        if first > budget { return (first, 1) }
        for round in 1...rounds {
            let end = budget * Double(round) / Double(rounds)
            var samples: [Double] = []
            repeat {
                samples.append(try sample(count))
                count += 1
            } while samples.count < largestRound && (ContinuousClock.now - start).seconds < end
            best = min(best, samples.sorted()[samples.count / 2])
            if (ContinuousClock.now - start).seconds > budget { break }
        }
        return (best, count)
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
