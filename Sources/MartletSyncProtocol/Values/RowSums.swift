/// Checksums of a set of objects, for each type and bucket of primary keys. The service compares its checksums with the
/// checksums of a client to find out whether the file of the client contains the correct objects.
///
/// The checksum of a bucket is the sum of the checksums of its rows, so it does not depend on the order of the rows.
package struct RowSums: Sendable, Hashable {
    /// The number of buckets of each type.
    package static let bucketCount = 64

    /// A part of the objects of one type.
    package struct BucketID: Sendable, Hashable, Comparable {
        /// The number of the type in `AgreedSchema`.
        package let type: Int
        package let number: Int

        package init(type: Int, number: Int) { (self.type, self.number) = (type, number) }

        package static func < (left: BucketID, right: BucketID) -> Bool {
            (left.type, left.number) < (right.type, right.number)
        }
    }

    package struct Bucket: Sendable, Hashable {
        /// The number of rows.
        package var count: UInt64
        /// The sum of the checksums of the rows, modulo 2^64.
        package var sum: UInt64

        package init(count: UInt64 = 0, sum: UInt64 = 0) { (self.count, self.sum) = (count, sum) }
    }

    /// A bucket with different checksums.
    package struct Difference: Sendable, Hashable {
        package let bucket: BucketID
        /// The number of rows of the client.
        package let clientCount: UInt64
        /// The number of rows that the client must have.
        package let databaseCount: UInt64
    }

    /// The buckets that contain rows.
    package private(set) var buckets: [BucketID: Bucket] = [:]

    package init() {}

    /// The number of rows in all buckets.
    package var rowCount: UInt64 { buckets.values.reduce(0) { $0 &+ $1.count } }

    package mutating func add(_ bucket: BucketID, checksum: UInt64) {
        buckets[bucket, default: Bucket()].count += 1
        buckets[bucket, default: Bucket()].sum &+= checksum
    }

    /// The buckets of a client that differ from these buckets, in ascending order.
    package func differences(from client: RowSums) -> [Difference] {
        Set(buckets.keys).union(client.buckets.keys).sorted().compactMap { id in
            let (mine, theirs) = (buckets[id] ?? Bucket(), client.buckets[id] ?? Bucket())
            return mine == theirs
                ? nil : Difference(bucket: id, clientCount: theirs.count, databaseCount: mine.count)
        }
    }
}

extension MessageWriter {
    mutating func sums(_ sums: RowSums) {
        list(sums.buckets.sorted { $0.key < $1.key }) { writer, entry in
            writer.count(entry.key.type)
            writer.count(entry.key.number)
            writer.number(entry.value.count)
            writer.word(entry.value.sum)
        }
    }
}

extension MessageReader {
    mutating func sums() throws(MalformedMessage) -> RowSums {
        var buckets: [RowSums.BucketID: RowSums.Bucket] = [:]
        var last: RowSums.BucketID?
        for _ in 0..<(try count()) {
            let id = RowSums.BucketID(type: try index(), number: try index())
            let bucket = RowSums.Bucket(count: try number(), sum: try word())
            if let last, !(last < id) { throw MalformedMessage("checksums are not in increasing order") }
            guard id.number < RowSums.bucketCount, bucket.count > 0 else {
                throw MalformedMessage("a checksum has the bucket \(id.number) and the count \(bucket.count)")
            }
            last = id
            buckets[id] = bucket
        }
        return RowSums(buckets)
    }
}

extension RowSums {
    fileprivate init(_ buckets: [BucketID: Bucket]) { self.buckets = buckets }
}
