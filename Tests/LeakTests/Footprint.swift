import CMartletTestVFS
import Foundation

/// The resources that the process uses at one moment.
struct Footprint {
    var bytes = Int(cmartlet_memory_in_use())
    var descriptors = Footprint.entries("/proc/self/fd")
    var threads = Footprint.entries("/proc/self/task")
    var files: Int

    init(folder: String) { files = Self.entries(folder) }

    private static func entries(_ folder: String) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
    }
}

/// The footprints at the ends of equally long batches of rounds.
struct FootprintSeries {
    var footprints: [Footprint] = []
    let roundsPerBatch: Int

    /// The second quarter. The first quarter is omitted, because it contains the creation of objects that the process
    /// creates once.
    private var early: ArraySlice<Footprint> { footprints[footprints.count / 4..<footprints.count / 2] }
    /// The last quarter.
    private var late: ArraySlice<Footprint> { footprints[(footprints.count * 3 / 4)...] }

    /// The minimum of the last quarter minus the minimum of the second quarter. Minima exclude temporary peaks.
    func growth(of value: KeyPath<Footprint, Int>) -> Int {
        guard let before = early.map({ $0[keyPath: value] }).min(), let after = late.map({ $0[keyPath: value] }).min()
        else { return 0 }
        return after - before
    }

    /// The minima of eight equally long parts. If there is a leak, the minima grow in all parts. If a cache fills, they
    /// grow only in the first parts.
    func eighths(of value: KeyPath<Footprint, Int>) -> [Int] {
        (0..<8).map { part in
            footprints[footprints.count * part / 8..<footprints.count * (part + 1) / 8].map { $0[keyPath: value] }.min()
                ?? 0
        }
    }

    /// The number of rounds from the middle of the second quarter to the middle of the last quarter. This is half of
    /// all rounds. `growth` is the growth during these rounds.
    var rounds: Int { roundsPerBatch * footprints.count / 2 }
}
