import CMartletRuntime
import Synchronization

/// A reference that does not keep its object, for objects that are retained often.
///
/// Swift's weak reference gives the object a side table, and from then on each retain and release of it takes three times
/// as long. Here the object begins and ends the reference itself, the latter in its `deinit`: until then its memory is
/// valid under the lock, and `swift_tryRetain` tells whether it still lives.
///
/// Ledger: `word` under its mutex.
package final class LooseReference: Sendable {
    private let word = Mutex<UInt>(0)

    package init() {}

    /// To be called by the object when it is made.
    package func begin(_ object: AnyObject) {
        let pointer = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        word.withLock { $0 = pointer }
    }

    /// To be called by the object in its `deinit`.
    package func end() { word.withLock { $0 = 0 } }

    /// True once the object's `deinit` has begun, or before the object was made. Keeps nothing alive, not even for a moment.
    package var isOver: Bool { word.withLock { $0 == 0 } }

    /// The object, if it still lives.
    package var object: AnyObject? {
        let living = word.withLock { word -> Retained? in
            guard let pointer = UnsafeMutableRawPointer(bitPattern: word), swift_tryRetain(pointer) != nil else {
                return nil
            }
            return Retained(pointer: pointer)
        }
        return living.map { Unmanaged<AnyObject>.fromOpaque($0.pointer).takeRetainedValue() }
    }

    // A reference that was counted under the lock, on its way out of it.
    // Sendable: only handed from the lock to its holder.
    private struct Retained: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }
}
