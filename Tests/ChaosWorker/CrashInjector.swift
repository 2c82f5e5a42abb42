import Foundation
import MartletEngine
import ModelTesting
import Synchronization

/// Kills or suspends its own process at yield points of the engine. Such a point is, for example, between a commit and
/// the notification of the observers, or inside a checkpoint. Signals from another process would rarely hit these
/// points.
final class CrashInjector: Sendable {
    private struct State: Sendable {
        var random: SeededRandom
        var isOn = true
    }

    /// On average, one of `odds` yield points kills the process, and another one suspends it.
    private let odds: Int
    private let state: Mutex<State>

    init(_ seed: UInt64, odds: Int) {
        self.odds = odds
        state = Mutex(State(random: SeededRandom(seed: seed)))
    }

    func setEnabled(_ isOn: Bool) { state.withLock { $0.isOn = isOn } }

    /// Called at every yield point. Only debug builds have yield points.
    func yieldPointReached() {
        let signal = state.withLock { state -> Int32? in
            guard state.isOn else { return nil }
            return switch Int.random(in: 0..<odds, using: &state.random) {
            case 0: SIGKILL
            case 1: SIGSTOP
            default: nil
            }
        }
        if let signal { kill(getpid(), signal) }
    }
}
