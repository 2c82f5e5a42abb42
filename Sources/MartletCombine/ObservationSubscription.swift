import Dispatch
import Foundation
import Martlet

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// What an observer tells a subscription.
enum PublishedSignal<Output, Failure: Error> {
    case value(Output)
    /// A value that nothing can follow.
    case last(Output)
    /// Nothing to tell.
    case quiet
    case completion(Subscribers.Completion<Failure>)
}

/// A subscriber's observation: it is told as much as it asked for, and what happens meanwhile comes as one change.
///
/// While nothing is asked for the observation pauses: nothing is worked out, nothing is queued up and nothing is lost. The
/// observation ends with `cancel()` and with the subscription.
///
/// Ledger: `downstream`, `demand`, `token`, `isOver` and `hasMissed` are guarded by `lock`, under which nothing of the user is
/// called; `isTelling` is used where the Realm belongs.
// Sendable by the ledger above.
final class ObservationSubscription<Downstream: Subscriber>: Subscription, @unchecked Sendable {
    typealias Signal = PublishedSignal<Downstream.Input, Downstream.Failure>

    private let lock = NSLock()
    private var downstream: Downstream?
    private var demand = Subscribers.Demand.none
    private var token: NotificationToken?
    private var isOver = false
    /// Sent once for all that happened while nothing was asked for, where the observation cannot pause; nil where it can.
    private let substitute: Downstream.Input?
    private var hasMissed = false

    init(_ downstream: Downstream, substitute: Downstream.Input? = nil) {
        self.downstream = downstream
        self.substitute = substitute
    }

    deinit { token?.invalidate() }

    private func locked<R>(_ body: () -> R) -> R {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }

    /// Begins to observe, unless it was cancelled before.
    func start(_ observe: (@escaping (Signal) -> Void) -> NotificationToken) {
        if locked({ isOver }) { return }
        let token = observe { [weak self] in self?.hear($0) }
        let isLate = locked {
            if isOver { return true }
            self.token = token
            if demand == .none, substitute == nil { token.pause() }
            return false
        }
        if isLate { token.invalidate() }
    }

    // MARK: What the subscriber says

    func request(_ more: Subscribers.Demand) {
        let (woken, missed) = locked {
            guard !isOver, more > .none else { return (NotificationToken?.none, false) }
            let wasIdle = demand == .none
            demand += more
            defer { hasMissed = false }
            return (wasIdle ? token : nil, hasMissed)
        }
        if substitute == nil { woken?.resume() }
        if missed, let substitute { hear(.value(substitute)) }
    }

    func cancel() { end()?.token?.invalidate() }

    /// What is left to be told; nil when it was over before.
    @discardableResult
    private func end() -> (downstream: Downstream?, token: NotificationToken?)? {
        locked {
            if isOver { return nil }
            isOver = true
            defer { (downstream, token) = (nil, nil) }
            return (downstream, token)
        }
    }

    // MARK: What the observation says

    func hear(_ signal: Signal) {
        switch signal {
        case .quiet: break
        case .value(let value): send(value)
        case .last(let value):
            send(value)
            complete(.finished)
        case .completion(let completion): complete(completion)
        }
    }

    private func send(_ value: Downstream.Input) {
        let receiver = locked { () -> Downstream? in
            guard !isOver else { return nil }
            guard demand > .none else {
                hasMissed = true
                return nil
            }
            demand -= 1
            // Before it is told: a write that it begins must not tell it more than it asked for.
            if demand == .none, substitute == nil { token?.pause() }
            return downstream
        }
        if let receiver { request(receiver.receive(value)) }
    }

    func complete(_ completion: Subscribers.Completion<Downstream.Failure>) {
        guard let (downstream, token) = end() else { return }
        token?.invalidate()
        downstream?.receive(completion: completion)
    }
}
