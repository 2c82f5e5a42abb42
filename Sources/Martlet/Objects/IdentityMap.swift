import CMartletRuntime
import MartletEngine
import Synchronization

/// The live accessors of one object type in one Realm: at most one per row.
///
/// Holds unmanaged pointers in an open-addressing table, because a weak reference would give every object a side table
/// and triple the cost of its retains. An accessor removes itself when it is deinitialised, which may happen on any
/// thread; until then its memory is valid under the lock, and `swift_tryRetain` tells whether it still lives.
///
/// Ledger: `table` under its mutex.
final class IdentityMap: Sendable {
    private let table = Mutex(OpenTable())

    func object(_ key: ObjectKey) -> ObjectBase? {
        table.withLock { table in
            guard let pointer = table.find(key), swift_tryRetain(pointer) != nil else { return nil }
            return Unmanaged<ObjectBase>.fromOpaque(pointer).takeRetainedValue()
        }
    }

    func insert(_ object: ObjectBase, _ key: ObjectKey) {
        let pointer = Unmanaged.passUnretained(object).toOpaque()
        nonisolated(unsafe) let entry = pointer
        table.withLock { $0.insert(key, entry) }
    }

    /// Forgets `object`, unless another accessor has taken its place.
    func remove(_ object: UnsafeMutableRawPointer, _ key: ObjectKey) {
        nonisolated(unsafe) let entry = object
        table.withLock { $0.remove(key, entry) }
    }

    /// The accessors that live now.
    func all() -> [ObjectBase] {
        table.withLock { table in
            table.pointers().compactMap { pointer in
                swift_tryRetain(pointer) == nil ? nil : Unmanaged<ObjectBase>.fromOpaque(pointer).takeRetainedValue()
            }
        }
    }

    var count: Int { table.withLock { $0.count } }
}

/// Keys to pointers, with linear probing; removal shifts back what probed past.
private struct OpenTable: ~Copyable {
    private var keys: UnsafeMutablePointer<ObjectKey>
    private var values: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    private var mask: Int
    private(set) var count = 0

    init() {
        mask = 15
        keys = .allocate(capacity: 16)
        values = .allocate(capacity: 16)
        values.initialize(repeating: nil, count: 16)
    }

    deinit {
        keys.deallocate()
        values.deallocate()
    }

    // Fibonacci hashing: consecutive keys spread over the table.
    private func home(_ key: ObjectKey) -> Int {
        Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> 20) & mask
    }

    func find(_ key: ObjectKey) -> UnsafeMutableRawPointer? {
        var slot = home(key)
        while let value = values[slot] {
            if keys[slot] == key { return value }
            slot = (slot + 1) & mask
        }
        return nil
    }

    mutating func insert(_ key: ObjectKey, _ value: UnsafeMutableRawPointer) {
        if (count + 1) * 4 > (mask + 1) * 3 { grow() }
        var slot = home(key)
        while values[slot] != nil {
            if keys[slot] == key {
                values[slot] = value
                return
            }
            slot = (slot + 1) & mask
        }
        keys[slot] = key
        values[slot] = value
        count += 1
    }

    mutating func remove(_ key: ObjectKey, _ value: UnsafeMutableRawPointer) {
        var slot = home(key)
        while let found = values[slot] {
            if keys[slot] == key {
                guard found == value else { return }
                close(slot)
                return
            }
            slot = (slot + 1) & mask
        }
    }

    private mutating func close(_ gap: Int) {
        var hole = gap
        var slot = (gap + 1) & mask
        count -= 1
        while let value = values[slot] {
            let distance = (slot - home(keys[slot])) & mask
            if distance >= (slot - hole) & mask {
                keys[hole] = keys[slot]
                values[hole] = value
                hole = slot
            }
            slot = (slot + 1) & mask
        }
        values[hole] = nil
    }

    private mutating func grow() {
        let (oldKeys, oldValues, oldMask) = (keys, values, mask)
        mask = oldMask * 2 + 1
        keys = .allocate(capacity: mask + 1)
        values = .allocate(capacity: mask + 1)
        values.initialize(repeating: nil, count: mask + 1)
        count = 0
        for slot in 0...oldMask {
            if let value = oldValues[slot] { insert(oldKeys[slot], value) }
        }
        oldKeys.deallocate()
        oldValues.deallocate()
    }

    func pointers() -> [UnsafeMutableRawPointer] { (0...mask).compactMap { values[$0] } }
}
