import Foundation

/// A series of random programs. Each program is made from its own seed.
///
/// For a campaign named `MARTLET_EXACT`, the environment variable `MARTLET_EXACT` is the number of programs, and
/// `MARTLET_EXACT_SEED` is the seed of the first program. With `MARTLET_EXACT_TRACE`, each seed is written to the
/// standard error before its program runs, which shows the seed of a program that traps.
package struct Campaign {
    package let seeds: Range<UInt64>
    package let isTraced: Bool

    package var count: Int { seeds.count }

    /// `count` is the default if the environment variable is not set to a number.
    package init(_ name: String, count: Int) {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["\(name)_SEED"].flatMap { UInt64($0) } ?? 1
        seeds = first..<first + UInt64(environment[name].flatMap { Int($0) } ?? count)
        isTraced = environment["\(name)_TRACE"] != nil
    }

    /// Runs one program after another. Returns the result for the first program that fails, with its seed.
    package func firstFailure<Failure>(_ run: (UInt64) throws -> Failure?) throws -> (seed: UInt64, failure: Failure)? {
        for seed in seeds {
            if isTraced { try FileHandle.standardError.write(contentsOf: Data("seed \(seed)\n".utf8)) }
            if let failure = try run(seed) { return (seed, failure) }
        }
        return nil
    }
}
