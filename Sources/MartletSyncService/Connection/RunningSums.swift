/// The sums of the random numbers of log entries between any two cursors.
struct RunningSums {
    private let sums: [UInt64: Int64]
    private let transactions: [UInt64]
    /// For each transaction, the sum of the numbers of all transactions before it. The last element is the sum of all.
    private var before: [Int64] = [0]

    /// - Parameter sums: for each transaction, the sum of its numbers.
    init(_ sums: [UInt64: Int64]) {
        self.sums = sums
        transactions = sums.keys.sorted()
        for transaction in transactions { before.append((before.last ?? 0) &+ (sums[transaction] ?? 0)) }
    }

    /// The sum of the numbers of the transactions that only `end` contains. `end` must contain all transactions of
    /// `start`.
    func between(_ start: SnapshotCursor, _ end: SnapshotCursor) -> Int64 {
        var sum = below(end.xmax) &- below(start.xmax)
        for transaction in start.open where end.contains(transaction) { sum &+= sums[transaction] ?? 0 }
        for transaction in end.open where transaction >= start.xmax { sum &-= sums[transaction] ?? 0 }
        return sum
    }

    // The sum of the numbers of the transactions below `limit`.
    private func below(_ limit: UInt64) -> Int64 {
        var (low, high) = (0, transactions.count)
        while low < high {
            let middle = (low + high) / 2
            if transactions[middle] < limit { low = middle + 1 } else { high = middle }
        }
        return before[low]
    }
}
