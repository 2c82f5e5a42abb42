extension Range<Int> {
    /// The first index that satisfies a monotonic predicate (once true, it stays true). If no index satisfies the
    /// predicate, this is the end of the range.
    ///
    /// Complexity: O(log n) calls of the predicate.
    package func partitionPoint<Failure: Error>(where predicate: (Int) throws(Failure) -> Bool) throws(Failure) -> Int {
        var low = lowerBound
        var high = upperBound
        while low < high {
            let middle = low + (high - low) / 2
            if try predicate(middle) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }

    /// Returns the same index as `partitionPoint`. This method searches near the start of the range first (galloping
    /// search, Bentley and Yao 1976).
    ///
    /// Complexity: O(log d) calls of the predicate for a result d positions after the start.
    func partitionPointGalloping<Failure: Error>(
        where predicate: (Int) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        var low = lowerBound
        var step = 1
        while low < upperBound {
            let probe = Swift.min(low + step, upperBound) - 1
            if try predicate(probe) { return try (low..<probe).partitionPoint(where: predicate) }
            low = probe + 1
            step *= 2
        }
        return upperBound
    }
}
