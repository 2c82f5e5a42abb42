import MartletEngine
import Synchronization

/// An asynchronous sequence of the changes of a collection, a map, sections, an object or a Realm.
///
/// ```swift
/// for await change in dogs.changes(keyPaths: ["name"]) {
///     if case .update(let dogs, let change) = change { table.apply(change, dogs) }
/// }
/// ```
///
/// The observation starts when the loop starts. It ends when the loop ends or its task is cancelled. The loop must run
/// on the executor of the Realm (its thread, queue or actor); otherwise it traps. Changes that occur while the loop
/// body runs are merged into one change; none is lost. For a Realm, only equal notifications are merged.
public struct Changes<Element>: AsyncSequence {
    public typealias Failure = Never

    /// Registers an observer that receives each change.
    let register: (_ notify: @escaping (Element) -> Void) -> NotificationToken
    /// Compares two changes. If this closure is set, changes are queued until the loop requests them, and a change that
    /// equals a queued change is dropped. If the closure is nil, the observer is paused while the body of the loop
    /// runs, and its changes are merged.
    var isRepeated: ((Element, Element) -> Bool)?

    /// Starts the observation.
    public func makeAsyncIterator() -> Iterator {
        Iterator(inbox: ChangeInbox(isRepeated: isRepeated, register))
    }

    /// An iterator that observes until it is released.
    public struct Iterator: AsyncIteratorProtocol {
        let inbox: ChangeInbox<Element>

        /// The next change; nil after the last change, or if the task was cancelled.
        public func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            await inbox.next(actor)
        }
    }
}

/// Connects an observer with a loop. The inbox stores the changes that the loop has not received. While the loop waits,
/// the inbox stores the continuation of the loop.
///
/// Thread safety: `state` has its own lock. `token` is set once, before the inbox is shared. All other properties are
/// used only on the Realm's executor.
// Sendable as described above.
final class ChangeInbox<Element>: @unchecked Sendable {
    private struct State {
        var waiting: CheckedContinuation<Void, Never>?
        var hasEnded = false
    }

    private let state = Mutex(State())
    private var elements: [Element] = []
    private var token: NotificationToken?
    private var context: RealmContext?
    private let isRepeated: ((Element, Element) -> Bool)?

    init(
        isRepeated: ((Element, Element) -> Bool)?, _ register: (@escaping (Element) -> Void) -> NotificationToken
    ) {
        self.isRepeated = isRepeated
        token = register { [weak self] in self?.receive($0) }
        context = token?.context
        token?.registration.whenNoChangeCanFollow { [weak self] in self?.wake(hasEnded: true) }
    }

    private func receive(_ element: Element) {
        if let isRepeated, elements.contains(where: { isRepeated($0, element) }) { return }
        elements.append(element)
        // If `isRepeated` is nil, the observer is paused until the loop requests the next change. Changes in the
        // meantime are merged.
        token?.registration.isPaused = isRepeated == nil
        wake(hasEnded: false)
    }

    /// Resumes the loop. Called on any thread.
    private func wake(hasEnded: Bool) {
        let waiting = state.withLock { state in
            if hasEnded { state.hasEnded = true }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    private func end() {
        token?.invalidate()
        wake(hasEnded: true)
    }

    func next(_ actor: isolated (any Actor)?) async -> Element? {
        context?.confinement.require("the changes of a Realm")
        while !Task.isCancelled {
            if !elements.isEmpty { return elements.removeFirst() }
            if state.withLock({ $0.hasEnded }) { return nil }
            token?.registration.isPaused = false
            if let context { context.hub.startRunIfNeeded(context) }
            await withTaskCancellationHandler {
                await withCheckedContinuation(isolation: actor) { continuation in
                    let hasEnded = state.withLock { state in
                        if !state.hasEnded { state.waiting = continuation }
                        return state.hasEnded
                    }
                    if hasEnded { continuation.resume() }
                }
            } onCancel: {
                end()
            }
            // The loop resumes here, on the executor of the Realm.
            if Task.isCancelled { break }
        }
        end()
        return nil
    }
}
