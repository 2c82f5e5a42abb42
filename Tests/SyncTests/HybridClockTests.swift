import ModelTesting
import Testing

@testable import MartletSyncProtocol

@Suite("hybrid clocks")
struct HybridClockTests {
    @Test("time stamps increase, even if the wall clock stands still or goes back")
    func increasing() {
        var clock = HybridClock()
        var random = SeededRandom(seed: 1)
        var last = HybridTimestamp.zero
        for _ in 0..<200_000 {
            let stamp = clock.next(wall: UInt64.random(in: 1_000...1_002, using: &random))
            #expect(stamp > last)
            last = stamp
        }
        // The 16-bit counter of the time stamps has overflowed, so the milliseconds have increased.
        #expect(last.milliseconds >= 1_004)
    }

    @Test("after a clock has received a time stamp, its next time stamps are greater, even if its wall clock is slow")
    func causality() {
        var (fast, slow) = (HybridClock(), HybridClock())
        let first = fast.next(wall: 900_000_000)
        slow.receive(first)
        let second = slow.next(wall: 5)
        #expect(second > first)
        fast.receive(second)
        #expect(fast.next(wall: 900_000_000) > second)
    }

    @Test("the wall clock is corrected by the time of the service")
    func corrected() {
        var clock = HybridClock()
        clock.synchronize(service: 1_000_000, wall: 400_000)
        #expect(clock.next(wall: 400_007).milliseconds == 1_000_007)
        clock.synchronize(service: 0, wall: .max)
        #expect(clock.next(wall: 3).milliseconds == 1_000_007)
    }

    @Test("with extreme times, a clock does not trap, and does not repeat a time stamp")
    func extremes() {
        var clock = HybridClock()
        clock.synchronize(service: .max, wall: 0)
        let first = clock.next(wall: .max)
        #expect(first.milliseconds == HybridTimestamp.greatestMilliseconds)
        #expect(clock.next(wall: .max) > first)
        clock.synchronize(service: 0, wall: .max)
        #expect(clock.next(wall: 0) > first)
    }
}
