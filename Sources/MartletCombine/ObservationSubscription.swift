import Dispatch
import Foundation
import Martlet

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// What an observer passes to its subscription.
enum PublishedSignal<Output, Failure: Error> {
    case value(Output)
    /// The last value. After this value, the subscription finishes.
    case last(Output)
    /// A change that is not published.
    case skip
    case completion(Subscribers.Completion<Failure>)
}

/// The observation for one subscriber. The subscriber receives as many values as it requests. Changes made while it has
/// no outstanding request are merged into one change.
///
/// While the subscriber requests no values, the observation is paused: no change is computed or queued, and no change
/// is lost. There is one exception: before a write that is silent for the subscriber, the earlier changes are computed.
/// They are stored until the subscriber requests them. The observation ends with `cancel()`, or when the subscription
/// is released.
///
/// Thread safety: `lock` guards `downstream`, `demand`, `token`, `hasEnded` and `stored`. No user code runs while it is
/// held. `isDeliveringStored` is used only in the isolation of the Realm, and values are delivered only there.
// Sendable: see "Thread safety" above.
final class ObservationSubscription<Downstream: Subscriber>: Subscription, @unchecked Sendable {
    typealias Signal = PublishedSignal<Downstream.Input, Downstream.Failure>

    private let lock = NSLock()
    private var downstream: Downstream?
    private var demand = Subscribers.Demand.none
    private var token: NotificationToken?
    private var hasEnded = false
    /// False for an observation that reports only the fact of a change. The token of such an observation is never
    /// paused. All changes made while the subscriber requests no values are stored as one signal.
    private let canPause: Bool
    /// The signals that the subscriber has not requested yet, oldest first.
    private var stored: [Signal] = []
    private var isDeliveringStored = false
    /// The queue of the observation; nil if the observation runs in the isolation of the observed value.
    private let queue: DispatchQueue?

    init(_ downstream: Downstream, canPause: Bool = true, queue: DispatchQueue? = nil) {
        self.queue = queue
        self.downstream = downstream
        self.canPause = canPause
    }

    deinit { token?.invalidate() }

    private func locked<R>(_ body: () -> R) -> R {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }

    /// Starts the observation. Does nothing if the subscription has already ended.
    func start(_ observe: (@escaping (Signal) -> Void) -> NotificationToken) {
        if locked({ hasEnded }) { return }
        let token = observe { [weak self] in self?.receive($0) }
        let endedMeanwhile = locked {
            if hasEnded { return true }
            self.token = token
            if demand == .none, canPause { token.pause() }
            return false
        }
        if endedMeanwhile { token.invalidate() }
    }

    // MARK: Subscriber

    func request(_ more: Subscribers.Demand) {
        let (idleToken, hasStored, hasToken) = locked {
            guard !hasEnded, more > .none else { return (NotificationToken?.none, false, false) }
            let wasIdle = demand == .none
            demand += more
            // The token must be resumed under the lock. After the lock is released, another thread can deliver the
            // requested value and pause the token again. A later resume would undo that pause.
            if wasIdle, stored.isEmpty, canPause { token?.resume() }
            return (wasIdle ? token : nil, !stored.isEmpty, token != nil)
        }
        if hasStored, !hasToken {
            // The observation could not begin, because the Realm of the queue could not be opened. The stored signal is
            // this error.
            queue?.asyncUnchecked { [weak self] in self?.deliverStored() }
        } else if hasStored {
            idleToken?.performUnchecked { [weak self] in self?.deliverStored() }
        } else if canPause {
            idleToken?.catchUp()
        }
    }

    func cancel() { end()?.token?.invalidate() }

    /// Ends the subscription, and returns the subscriber and the token. Returns nil if the subscription has already
    /// ended.
    @discardableResult
    private func end() -> (downstream: Downstream?, token: NotificationToken?)? {
        locked {
            if hasEnded { return nil }
            hasEnded = true
            defer { (downstream, token, stored) = (nil, nil, []) }
            return (downstream, token)
        }
    }

    // MARK: Observation

    func receive(_ signal: Signal) {
        if case .skip = signal { return }
        let (receiver, deliveringToken) = locked { () -> (Downstream?, NotificationToken?) in
            guard !hasEnded else { return (nil, nil) }
            if stored.isEmpty, token?.isPredelivering != true, reserveDemand(for: signal) { return (downstream, nil) }
            if canPause || stored.isEmpty { stored.append(signal) }
            // During the predelivery for a silent write, a signal is stored even if another thread has just requested
            // values, because no user code may run before the write. The stored signals are delivered after the write
            // if they were requested. A stored completion is always delivered, because it needs no request.
            return (nil, canDeliverStored ? token : nil)
        }
        if let receiver { deliver(signal, receiver) }
        deliveringToken?.performUnchecked(asynchronously: true) { [weak self] in self?.deliverStored() }
    }

    private var canDeliverStored: Bool {
        if case .completion? = stored.first { return true }
        return demand > .none
    }

    /// Reserves demand for a signal. The caller holds the lock. Returns false if the signal was not requested.
    private func reserveDemand(for signal: Signal) -> Bool {
        if case .completion = signal { return true }
        guard demand > .none else { return false }
        demand -= 1
        // The token is paused before the delivery. Otherwise a write that the subscriber begins during the delivery
        // would deliver more values than the subscriber requested.
        if demand == .none, canPause { token?.pause() }
        return true
    }

    private func deliver(_ signal: Signal, _ receiver: Downstream) {
        switch signal {
        case .skip: break
        case .value(let value): request(receiver.receive(value))
        case .last(let value):
            _ = receiver.receive(value)
            complete(.finished)
        case .completion(let completion): complete(completion)
        }
    }

    /// Delivers as many stored signals as the subscriber requests. If no signal is left and the subscriber requests
    /// more values, resumes the observation.
    private func deliverStored() {
        // If the subscriber requests more values during a delivery, the outer call delivers them.
        if isDeliveringStored { return }
        isDeliveringStored = true
        defer { isDeliveringStored = false }
        while let (signal, receiver) = takeStored() { deliver(signal, receiver) }
        let idleToken = locked {
            let idleToken = stored.isEmpty && demand > .none && canPause ? token : nil
            idleToken?.resume()
            return idleToken
        }
        idleToken?.catchUp()
    }

    private func takeStored() -> (Signal, Downstream)? {
        locked {
            guard let downstream, let first = stored.first, reserveDemand(for: first) else { return nil }
            stored.removeFirst()
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
    /// Runs `work` in the isolation of the Realm. The caller ensures that no other thread uses the captured values.
    fileprivate func performUnchecked(asynchronously: Bool = false, _ work: @escaping () -> Void) {
        nonisolated(unsafe) let work = work
        perform(asynchronously: asynchronously) { work() }
    }
}
