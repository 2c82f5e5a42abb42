import CMartletRuntime
import MartletEngine
import Synchronization

/// The living accessors of one object type in one Realm: at most one per row.
///
/// The map does not retain the accessors: it stores raw pointers. A `weak` reference would add a side table to every
/// object, and each retain of the object would then take three times as long. An accessor removes itself in its
/// `deinit`, which may run on any thread. `deinit` needs the lock for this, so a thread that holds the lock can use
/// every pointer in the map. `swift_tryRetain` fails if the `deinit` of the accessor has already begun.
///
/// A loop reuses one accessor for successive rows. The map stores this accessor in a separate entry, so the hash table
/// does not change with every row.
///
/// Thread safety: the mutex guards `table`. The key of the loop's accessor is read and written only on the executor of
/// the Realm.
final class IdentityMap: Sendable {
    private let table = Mutex(PointerTable())
    /// The pointer to the loop's accessor; 0 if there is none. It is written under the lock. The thread that
    /// deallocates the accessor sets the pointer to 0.
    private let loopEntry = Atomic<UInt>(0)
    /// The number of entries in the table. It is written under the lock.
    private let tableCount = Atomic<Int>(0)
    @exclusivity(unchecked) nonisolated(unsafe) private var loopKey: ObjectKey = 0

    func object(_ key: ObjectKey) -> ObjectBase? {
        table.withLock { Self.retained(find(key, &$0)) }
            .map { Unmanaged<ObjectBase>.fromOpaque($0.pointer).takeRetainedValue() }
    }

    // Called under the lock.
    private func find(_ key: ObjectKey, _ table: inout PointerTable) -> UInt {
        let entry = loopEntry.load(ordering: .relaxed)
        return entry != 0 && loopKey == key ? entry : table.find(key)
    }

    // MARK: The accessor of a loop

    /// True if an object has one strong reference and no weak or unowned references, like a new object. The parameter
    /// is a pointer, because passing the object could retain it.
    static func isReferencedOnce(_ pointer: UnsafeRawPointer) -> Bool {
        cmartlet_reference_counts(pointer) == countsOfNewObject
    }

    /// Reuses the loop's accessor for another row. Only the loop may refer to the accessor. Returns false if the
    /// accessor cannot be reused.
    func reuse(_ pointer: UnsafeRawPointer, for key: ObjectKey) -> Bool {
        guard loopEntry.load(ordering: .relaxed) == UInt(bitPattern: pointer) else { return false }
        let isReused = Unmanaged<ObjectBase>.fromOpaque(pointer)._withUnsafeGuaranteedRef { $0._reuse(for: key) }
        if isReused { loopKey = key }
        return isReused
    }

    private static let countsOfNewObject: UInt = {
        let object = Unmanaged.passRetained(ObjectBase(_managed: ()))
        defer { object.release() }
        return cmartlet_reference_counts(object.toOpaque())
    }()

    /// Stores a new accessor as the loop's accessor. Its row must have no accessor yet. The previous loop accessor is
    /// moved to the table.
    func insertLoopAccessor(_ object: ObjectBase, _ key: ObjectKey) {
        let entry = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        table.withLock { table in
            let former = loopEntry.exchange(entry, ordering: .relaxed)
            if former != 0 { insert(former, loopKey, &table) }
        }
        loopKey = key
    }

    /// Like `object(_:)`, but faster if the loop's accessor is the only accessor.
    func objectIfAny(_ key: ObjectKey) -> ObjectBase? {
        tableCount.load(ordering: .relaxed) == 0 && loopKey != key ? nil : object(key)
    }

    // Called under the lock.
    private func insert(_ entry: UInt, _ key: ObjectKey, _ table: inout PointerTable) {
        table.insert(key, entry)
        tableCount.store(table.count, ordering: .relaxed)
    }

    // MARK: All accessors

    /// The accessors of distinct rows. Creates an accessor with `make` for every row that has no living accessor.
    func objects(_ keys: [ObjectKey], orMake make: (ObjectKey) -> ObjectBase) -> [ObjectBase] {
        let living = table.withLock { table in keys.map { Self.retained(find($0, &table)) } }
        var made: [(key: ObjectKey, entry: UInt)] = []
        let objects = zip(keys, living).map { key, living in
            if let living { return Unmanaged<ObjectBase>.fromOpaque(living.pointer).takeRetainedValue() }
            let object = make(key)
            made.append((key, UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())))
            return object
        }
        // The lock is acquired twice. In between no other thread can insert an accessor, because this function is not
        // called for frozen Realms, and all accessors of a live Realm are created on its executor.
        if !made.isEmpty { table.withLock { [made] in for (key, entry) in made { insert(entry, key, &$0) } } }
        return objects
    }

    /// The living accessors of distinct rows; nil for every row without a living accessor.
    func living(_ keys: [ObjectKey]) -> [ObjectBase?] {
        table.withLock { table in keys.map { Self.retained(find($0, &table)) } }.map { living in
            living.map { Unmanaged<ObjectBase>.fromOpaque($0.pointer).takeRetainedValue() }
        }
    }

    /// Makes `object` the accessor of a row and returns it. In a frozen Realm, another thread may already have inserted
    /// an accessor of the row. In this case the method returns that accessor.
    func insertIfAbsent(_ object: ObjectBase, _ key: ObjectKey) -> ObjectBase {
        let entry = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        let first = table.withLock { table -> Retained? in
            if let known = Self.retained(find(key, &table)) { return known }
            insert(entry, key, &table)
            return nil
        }
        return first.map { Unmanaged<ObjectBase>.fromOpaque($0.pointer).takeRetainedValue() } ?? object
    }

    // A pointer that was retained under the lock.
    // Sendable: the locked closure only passes a value to its caller.
    private struct Retained: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }

    private static func retained(_ word: UInt) -> Retained? {
        guard let pointer = UnsafeMutableRawPointer(bitPattern: word), swift_tryRetain(pointer) != nil else {
            return nil
        }
        return Retained(pointer: pointer)
    }

    func insert(_ object: ObjectBase, _ key: ObjectKey) {
        let entry = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        table.withLock { insert(entry, key, &$0) }
    }

    /// Removes the entry of `object`. If the row already has another accessor, the entry of that accessor is kept.
    func remove(_ object: UnsafeMutableRawPointer, _ key: ObjectKey) {
        let entry = UInt(bitPattern: object)
        table.withLock { table in
            if loopEntry.load(ordering: .relaxed) == entry {
                loopEntry.store(0, ordering: .relaxed)
            } else {
                table.remove(key, entry)
                tableCount.store(table.count, ordering: .relaxed)
            }
        }
    }

    /// All living accessors.
    func all() -> [ObjectBase] {
        table.withLock { ([loopEntry.load(ordering: .relaxed)] + $0.all()).compactMap(Self.retained) }
            .map { Unmanaged<ObjectBase>.fromOpaque($0.pointer).takeRetainedValue() }
    }

    var count: Int { tableCount.load(ordering: .relaxed) + (loopEntry.load(ordering: .relaxed) == 0 ? 0 : 1) }
}

/// A hash table with linear probing that maps keys to pointers. A removal moves later entries of the probe sequence
/// back, so that a search can end at the first empty slot.
private struct PointerTable: ~Copyable {
    // The key and the value are stored together. In a large table, separate arrays would cost a second cache miss for
    // each access.
    private struct Slot {
        var key: ObjectKey
        /// Zero in an empty slot.
        var value: UInt
    }

    private var slots: UnsafeMutablePointer<Slot>
    private var mask: Int
    private(set) var count = 0

    init() {
        mask = 15
        slots = .allocate(capacity: 16)
        slots.initialize(repeating: Slot(key: 0, value: 0), count: 16)
    }

    deinit { slots.deallocate() }

    // Fibonacci hashing spreads consecutive keys over the table.
    private func idealSlot(_ key: ObjectKey) -> Int {
        Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> 20) & mask
    }

    func find(_ key: ObjectKey) -> UInt {
        var slot = idealSlot(key)
        while slots[slot].value != 0 {
            if slots[slot].key == key { return slots[slot].value }
            slot = (slot + 1) & mask
        }
        return 0
    }

    mutating func insert(_ key: ObjectKey, _ value: UInt) {
        if (count + 1) * 4 > (mask + 1) * 3 { grow() }
        var slot = idealSlot(key)
        while slots[slot].value != 0 {
            if slots[slot].key == key {
                slots[slot].value = value
                return
            }
            slot = (slot + 1) & mask
        }
        slots[slot] = Slot(key: key, value: value)
        count += 1
    }

    mutating func remove(_ key: ObjectKey, _ value: UInt) {
        var slot = idealSlot(key)
        while slots[slot].value != 0 {
            if slots[slot].key == key {
                guard slots[slot].value == value else { return }
                removeEntry(at: slot)
                return
            }
            slot = (slot + 1) & mask
        }
    }

    private mutating func removeEntry(at gap: Int) {
        var hole = gap
        var slot = (gap + 1) & mask
        count -= 1
        while slots[slot].value != 0 {
            let distance = (slot - idealSlot(slots[slot].key)) & mask
            if distance >= (slot - hole) & mask {
                slots[hole] = slots[slot]
                hole = slot
            }
            slot = (slot + 1) & mask
        }
        slots[hole].value = 0
    }

    private mutating func grow() {
        let (old, oldMask) = (slots, mask)
        mask = oldMask * 2 + 1
        slots = .allocate(capacity: mask + 1)
        slots.initialize(repeating: Slot(key: 0, value: 0), count: mask + 1)
        count = 0
        for slot in 0...oldMask where old[slot].value != 0 { insert(old[slot].key, old[slot].value) }
        old.deallocate()
    }

    func all() -> [UInt] { (0...mask).map { slots[$0].value }.filter { $0 != 0 } }
}
