import Foundation
import MartletEngine
import MartletTestSupport
import Synchronization

/// Ends or stops the process by itself at the places where that hurts: between a commit and its signal, inside a checkpoint.
/// A process from outside hits them too rarely.
final class Fate: Sendable {
    private struct State: Sendable {
        var random: Seeded
        var isOn = true
    }

    /// One in so many yield points ends the process, and one stops it.
    private let odds: Int
    private let state: Mutex<State>

    init(_ seed: UInt64, odds: Int) {
        self.odds = odds
        state = Mutex(State(random: Seeded(state: seed)))
    }

    func turn(on isOn: Bool) { state.withLock { $0.isOn = isOn } }

    /// To be called at every yield point, which debug builds have.
    func pass() {
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
