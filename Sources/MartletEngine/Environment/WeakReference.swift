import CMartletRuntime
import Synchronization

/// A weak reference to an object that is retained and released often.
///
/// Swift's `weak` adds a side table to the object, and each later retain and release of the object takes three times as
/// long. This class has no side table. Instead, the object calls `begin` in its initializer and `end` in its `deinit`.
/// Between these two calls, the pointer is valid while the mutex is held. `swift_tryRetain` detects whether the
/// `deinit` of the object has begun.
///
/// Thread safety: the mutex guards `word`.
package final class WeakReference: Sendable {
    private let word = Mutex<UInt>(0)

    package init() {}

    /// The object calls this method in its initializer.
    package func begin(_ object: AnyObject) {
        let pointer = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        word.withLock { $0 = pointer }
    }

    /// The object calls this method in its `deinit`.
    package func end() { word.withLock { $0 = 0 } }

    /// True before `begin` and after `end`. Reading this property never retains the object.
    package var isEmpty: Bool { word.withLock { $0 == 0 } }

    /// The object, if it is still alive.
    package var object: AnyObject? {
        let living = word.withLock { word -> Retained? in
            guard let pointer = UnsafeMutableRawPointer(bitPattern: word), swift_tryRetain(pointer) != nil else {
                return nil
            }
            return Retained(pointer: pointer)
        }
        return living.map { Unmanaged<AnyObject>.fromOpaque($0.pointer).takeRetainedValue() }
    }

    // A pointer to an object that was retained under the lock. It is Sendable because the locked closure passes it only
    // to the caller of `withLock`.
    private struct Retained: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }
}
