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
/// While nothing is asked for the observation pauses: nothing is worked out, nothing is queued up and nothing is lost. But
/// what leads to a write that is silent for the subscriber is told before that write, and kept until it is asked for. The
/// observation ends with `cancel()` and with the subscription.
///
/// Ledger: `downstream`, `demand`, `token`, `isOver` and `kept` are guarded by `lock`, under which nothing of the user is
/// called; `isTellingKept` is used where the Realm belongs, and values are told there only.
// Sendable by the ledger above.
final class ObservationSubscription<Downstream: Subscriber>: Subscription, @unchecked Sendable {
    typealias Signal = PublishedSignal<Downstream.Input, Downstream.Failure>

    private let lock = NSLock()
    private var downstream: Downstream?
    private var demand = Subscribers.Demand.none
    private var token: NotificationToken?
    private var isOver = false
    /// False for what cannot pause, and tells nothing but that something happened: once for all that happened meanwhile.
    private let canPause: Bool
    /// What was told and not asked for, oldest first.
    private var kept: [Signal] = []
    private var isTellingKept = false

    init(_ downstream: Downstream, canPause: Bool = true) {
        self.downstream = downstream
        self.canPause = canPause
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
            if demand == .none, canPause { token.pause() }
            return false
        }
        if isLate { token.invalidate() }
    }

    // MARK: What the subscriber says

    func request(_ more: Subscribers.Demand) {
        let (woken, hasKept) = locked {
            guard !isOver, more > .none else { return (NotificationToken?.none, false) }
            let wasIdle = demand == .none
            demand += more
            // Not later, when what was asked for may have been told, and a new pause have begun.
            if wasIdle, kept.isEmpty, canPause { token?.resume() }
            return (wasIdle ? token : nil, !kept.isEmpty)
        }
        if hasKept {
            woken?.hand { [weak self] in self?.tellKept() }
        } else if canPause {
            woken?.catchUp()
        }
    }

    func cancel() { end()?.token?.invalidate() }

    /// What is left to be told; nil when it was over before.
    @discardableResult
    private func end() -> (downstream: Downstream?, token: NotificationToken?)? {
        locked {
            if isOver { return nil }
            isOver = true
            defer { (downstream, token, kept) = (nil, nil, []) }
            return (downstream, token)
        }
    }

    // MARK: What the observation says

    func hear(_ signal: Signal) {
        if case .quiet = signal { return }
        let (receiver, waker) = locked { () -> (Downstream?, NotificationToken?) in
            guard !isOver else { return (nil, nil) }
            if kept.isEmpty, token?.isTellingAhead != true, take(signal) { return (downstream, nil) }
            if canPause || kept.isEmpty { kept.append(signal) }
            // Asked for meanwhile, on another thread: told when the write is over, as is an end that nobody asks for.
            return (nil, canTellKept ? token : nil)
        }
        if let receiver { tell(signal, receiver) }
        waker?.hand(soon: true) { [weak self] in self?.tellKept() }
    }

    private var canTellKept: Bool {
        if case .completion? = kept.first { return true }
        return demand > .none
    }

    /// Counts a signal as told, under the lock; false when it was not asked for.
    private func take(_ signal: Signal) -> Bool {
        if case .completion = signal { return true }
        guard demand > .none else { return false }
        demand -= 1
        // Before it is told: a write that it begins must not tell it more than it asked for.
        if demand == .none, canPause { token?.pause() }
        return true
    }

    private func tell(_ signal: Signal, _ receiver: Downstream) {
        switch signal {
        case .quiet: break
        case .value(let value): request(receiver.receive(value))
        case .last(let value):
            _ = receiver.receive(value)
            complete(.finished)
        case .completion(let completion): complete(completion)
        }
    }

    /// Tells what was kept, as much as is asked for, and goes on with what happened since.
    private func tellKept() {
        // Asked for more by one of those: it is told of it after that.
        if isTellingKept { return }
        isTellingKept = true
        defer { isTellingKept = false }
        while let (signal, receiver) = takeKept() { tell(signal, receiver) }
        let waiting = locked {
            let waiting = kept.isEmpty && demand > .none && canPause ? token : nil
            waiting?.resume()
            return waiting
        }
        waiting?.catchUp()
    }

    private func takeKept() -> (Signal, Downstream)? {
        locked {
            guard let downstream, let first = kept.first, take(first) else { return nil }
            kept.removeFirst()
            return (first, downstream)
        }
    }

    func complete(_ completion: Subscribers.Completion<Downstream.Failure>) {
        guard let (downstream, token) = end() else { return }
        token?.invalidate()
        downstream?.receive(completion: completion)
    }
}

extension NotificationToken {
    /// Runs work of a subscription where the Realm belongs.
    fileprivate func hand(soon: Bool = false, _ work: @escaping () -> Void) {
        nonisolated(unsafe) let work = work
        perform(soon: soon) { work() }
    }
}
