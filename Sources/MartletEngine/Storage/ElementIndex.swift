package import MartletSQLite
package import MartletValues

/// Finds the chunk of an element of a large set, or of a key of a large map, without searching the other chunks.
///
/// Elements are appended to the last chunk and removed from their chunk, so they stay in the same chunk. The index
/// therefore contains no positions, which removals change.
///
/// The index is a hash table with linear probing. An entry has a hash of 32 bits and the number of a chunk, so a search
/// may return chunks that do not contain the element.
package struct ElementIndex {
    /// A hash in the upper half and the number of a chunk plus one in the lower half; zero if the entry is free.
    private var entries: [UInt64]
    private var count = 0
    /// The ordinals of the chunks, by their numbers.
    private var ordinals: [Int64] = []
    private var numbers: [Int64: UInt32] = [:]
    /// The chunk of the newest entry, because elements are added chunk by chunk.
    private var newest: (ordinal: Int64, number: UInt32)?

    /// - Parameter capacity: the expected number of elements.
    init(capacity: Int) {
        entries = [UInt64](repeating: 0, count: Self.size(for: capacity))
    }

    // At most three quarters of the entries are used.
    private static func size(for count: Int) -> Int {
        var size = 64
        while size * 3 < count * 4 { size *= 2 }
        return size
    }

    /// A hash of the encoded form of an element. It multiplies and mixes words of eight bytes, as wyhash does
    /// (https://github.com/wangyi-fudan/wyhash).
    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var hash = UInt64(bytes.count) ^ 0x9e37_79b9_7f4a_7c15
        var offset = 0
        while offset + 8 <= bytes.count {
            hash = mix(hash ^ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return UInt32(truncatingIfNeeded: mix(hash ^ rest))
    }

    /// The hash of an element that is not encoded.
    package static func hash(of element: SQLValue) -> UInt32 {
        ElementCodec.encode(CollectionOfOne(element)).withUnsafeBytes { hash($0) }
    }

    @inline(__always) private static func mix(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0xa076_1d64_78bd_642f)
        return product.high ^ product.low
    }

    /// The ordinals of the chunks that may contain the value of a search.
    package func chunks(of sought: EncodedSearch) -> [Int64] { chunks(of: sought.hash) }

    func chunks(of hash: UInt32) -> [Int64] {
        var found: [Int64] = []
        forEachMatch(hash) { position in
            let ordinal = ordinals[Int(UInt32(truncatingIfNeeded: entries[position])) - 1]
            if !found.contains(ordinal) { found.append(ordinal) }
            return true
        }
        return found
    }

    package mutating func add(_ hash: UInt32, chunk ordinal: Int64) {
        if (count + 1) * 4 > entries.count * 3 { grow() }
        insert(UInt64(hash) << 32 | UInt64(number(of: ordinal) + 1))
        count += 1
    }

    private mutating func number(of ordinal: Int64) -> UInt32 {
        if let newest, newest.ordinal == ordinal { return newest.number }
        let number = numbers[ordinal] ?? UInt32(ordinals.count)
        if number == ordinals.count {
            numbers[ordinal] = number
            ordinals.append(ordinal)
        }
        newest = (ordinal, number)
        return number
    }

    /// Removes the entry of an element. If elements of the same chunk have the same hash, their entries are equal, and
    /// one of them is removed.
    package mutating func remove(_ hash: UInt32, chunk ordinal: Int64) {
        guard let number = numbers[ordinal] else { return }
        let entry = UInt64(hash) << 32 | UInt64(number + 1)
        var removed: Int?
        forEachMatch(hash) { position in
            if entries[position] != entry { return true }
            removed = position
            return false
        }
        guard var free = removed else { return }
        count -= 1
        // Moves later entries back, so that a search does not end before them.
        let mask = entries.count - 1
        var next = (free + 1) & mask
        while entries[next] != 0 {
            let home = Int(entries[next] >> 32) & mask
            if (next - home) & mask >= (next - free) & mask {
                entries[free] = entries[next]
                free = next
            }
            next = (next + 1) & mask
        }
        entries[free] = 0
    }

    /// Calls a closure with the positions of the entries that have a hash, until it returns false.
    @inline(__always)
    private func forEachMatch(_ hash: UInt32, _ body: (Int) -> Bool) {
        let mask = entries.count - 1
        var position = Int(hash) & mask
        while entries[position] != 0 {
            if entries[position] >> 32 == UInt64(hash), !body(position) { return }
            position = (position + 1) & mask
        }
    }

    private mutating func insert(_ entry: UInt64) {
        let mask = entries.count - 1
        var position = Int(entry >> 32) & mask
        while entries[position] != 0 { position = (position + 1) & mask }
        entries[position] = entry
    }

    private mutating func grow() {
        let old = entries
        entries = [UInt64](repeating: 0, count: old.count * 2)
        for entry in old where entry != 0 { insert(entry) }
    }
}

extension ChunkedElements {
    /// An index of the elements of a set, or of the keys of a map. Nil if encoded elements must be decoded.
    package func makeIndex(
        _ encoded: EncodedElements, owner: ObjectKey, table: String, _ connection: Connection
    ) throws -> ElementIndex? {
        let step = encoded.isMap ? 2 : 1
        var index = ElementIndex(capacity: count / step)
        for chunk in chunks {
            let ordinal = chunk.ordinal
            if let elements = chunk.elements {
                for position in stride(from: 0, to: elements.count, by: step) {
                    index.add(ElementIndex.hash(of: elements[position]), chunk: ordinal)
                }
                continue
            }
            let isValid = try Self.withEncoded(owner: owner, ordinal: ordinal, table: table, connection) { bytes in
                encoded.forEach(bytes, count: chunk.count) { _, element in
                    index.add(ElementIndex.hash(UnsafeRawBufferPointer(rebasing: bytes[element])), chunk: ordinal)
                }
            }
            if isValid != true { return nil }
        }
        return index
    }
}
