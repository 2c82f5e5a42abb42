/// A frozen value that is `Sendable`, so that it can be passed to other threads, queues, actors and tasks.
///
/// ```swift
/// let dog = Frozen(dogs[0])
/// Task.detached { print(dog.name) }
/// ```
///
/// The initializer calls `freeze()` on the value. Reads are forwarded to the frozen value. Objects that are reachable
/// from the frozen value are frozen, too. To pass such an object to another thread, wrap it in another `Frozen`.
///
/// Ignored properties are not frozen, and their access is not synchronized between threads. Do not use ignored
/// properties of a frozen object.
@dynamicMemberLookup
// Sendable: a frozen value never changes and can be read on any thread.
public struct Frozen<Value: ThreadConfined>: @unchecked Sendable {
    /// The frozen value.
    public let value: Value

    /// Freezes a value. Traps under the same conditions as `freeze()`.
    public init(_ value: Value, fileID: StaticString = #fileID, line: UInt = #line) {
        self.value = value.freeze(fileID: fileID, line: line)
    }

    /// Reads a property of the frozen value.
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Member>) -> Member { value[keyPath: keyPath] }

    /// The live value on the current thread, queue or actor; nil if the value was deleted.
    public func thaw(isolation: isolated (any Actor)? = #isolation) -> Value? { value.thaw(isolation: isolation) }
}

extension Frozen: Equatable where Value: Equatable {}
extension Frozen: Hashable where Value: Hashable {}

extension Frozen: Identifiable where Value: Identifiable {
    public var id: Value.ID { value.id }
}

extension Frozen: Encodable where Value: Encodable {
    /// Encodes the frozen value, without a wrapper.
    public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

extension Frozen: Sequence where Value: Sequence {
    public func makeIterator() -> Value.Iterator { value.makeIterator() }
}

extension Frozen: Collection where Value: Collection {
    public var startIndex: Value.Index { value.startIndex }
    public var endIndex: Value.Index { value.endIndex }
    public func index(after index: Value.Index) -> Value.Index { value.index(after: index) }
    public subscript(position: Value.Index) -> Value.Element { value[position] }
}

extension Frozen: BidirectionalCollection where Value: BidirectionalCollection {
    public func index(before index: Value.Index) -> Value.Index { value.index(before: index) }
}

extension Frozen: RandomAccessCollection where Value: RandomAccessCollection {}
