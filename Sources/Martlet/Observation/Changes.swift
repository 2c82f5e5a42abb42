import MartletEngine
import Synchronization

/// What happens to something observed, as it happens, for `for await`.
///
/// ```swift
/// for await change in dogs.changes(keyPaths: ["name"]) {
///     if case .update(let dogs, let change) = change { table.apply(change, dogs) }
/// }
/// ```
///
/// Observation begins with the loop and ends with it, or with its task. The loop runs where the Realm belongs: on its
/// thread, queue or actor; anywhere else it traps. While the body is busy nothing is queued up: what happens meanwhile
/// comes as one change, and nothing is lost.
public struct Changes<Element>: AsyncSequence {
    public typealias Failure = Never

    /// Registers an observer who is told of each change, and whether it is the last.
    let register: (_ tell: @escaping (Element, _ isLast: Bool) -> Void) -> NotificationToken
    /// Tells which changes say no more together than alone; those that say what is different come one at a time.
    var isRepeated: ((Element, Element) -> Bool)?

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator {
        Iterator(inbox: ChangeInbox(isRepeated: isRepeated, register))
    }

    /// Observes as long as it lives.
    public struct Iterator: AsyncIteratorProtocol {
        let inbox: ChangeInbox<Element>

        /// The next change; nil once nothing can follow, or the task was cancelled.
        public func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            await inbox.next(actor)
        }
    }
}

/// The change that waits for a loop, or the loop that waits for a change.
///
/// Ledger: `state` has its lock; `token` is set once, before anybody else knows the inbox; everything else is used on the
/// Realm's executor only.
// Sendable by the ledger above.
final class ChangeInbox<Element>: @unchecked Sendable {
    private struct State {
        var waiting: CheckedContinuation<Void, Never>?
        var isOver = false
    }

    private let state = Mutex(State())
    private var elements: [Element] = []
    private var token: NotificationToken?
    private var context: RealmContext?
    private let isRepeated: ((Element, Element) -> Bool)?

    init(
        isRepeated: ((Element, Element) -> Bool)?, _ register: (@escaping (Element, Bool) -> Void) -> NotificationToken
    ) {
        self.isRepeated = isRepeated
        token = register { [weak self] element, isLast in self?.put(element, isLast) }
        context = token?.context
    }

    private func put(_ element: Element, _ isLast: Bool) {
        if let isRepeated, elements.contains(where: { isRepeated($0, element) }) { return }
        elements.append(element)
        // What happens from now on is worked out when this has been taken.
        token?.registration.isPaused = isRepeated == nil
        wake(isOver: isLast)
    }

    /// Wakes the loop; on any thread.
    private func wake(isOver: Bool) {
        let waiting = state.withLock { state in
            if isOver { state.isOver = true }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    private func end() {
        token?.invalidate()
        wake(isOver: true)
    }

    func next(_ actor: isolated (any Actor)?) async -> Element? {
        context?.confinement.require("the changes of a Realm")
        while !Task.isCancelled {
            if !elements.isEmpty { return elements.removeFirst() }
            if state.withLock({ $0.isOver }) { return nil }
            token?.registration.isPaused = false
            if let context { context.hub.wake(context) }
            await withTaskCancellationHandler {
                await withCheckedContinuation(isolation: actor) { continuation in
                    let isOver = state.withLock { state in
                        if !state.isOver { state.waiting = continuation }
                        return state.isOver
                    }
                    if isOver { continuation.resume() }
                }
            } onCancel: {
                end()
            }
            // Woken here, where the Realm belongs.
            if Task.isCancelled { break }
        }
        end()
        return nil
    }
}
