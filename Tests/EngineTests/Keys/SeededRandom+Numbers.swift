import ModelTesting

extension SeededRandom {
    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self) }

    /// True with a probability of one in `count`.
    mutating func isTrue(oneIn count: Int) -> Bool { number(0..<count) == 0 }
}
