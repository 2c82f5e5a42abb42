/// Something frozen that the compiler lets go anywhere: to other threads, queues, actors and tasks.
///
/// ```swift
/// let dog = Frozen(dogs[0])
/// Task.detached { print(dog.name) }
/// ```
///
/// It shows a picture of the moment when it was made, as `freeze()` does, and reads as the thing itself. What it leads to is
/// frozen, too; wrap it in turn to send it on.
///
/// Ignored properties are not part of the picture: they are neither shared nor guarded, so leave them alone.
@dynamicMemberLookup
// Sendable: what is frozen never changes and may be read by any thread.
public struct Frozen<Value: ThreadConfined>: @unchecked Sendable {
    /// The frozen thing.
    public let value: Value

    /// A picture of this moment. Traps as `freeze()` does.
    public init(_ value: Value, fileID: StaticString = #fileID, line: UInt = #line) {
        self.value = value.freeze(fileID: fileID, line: line)
    }

    /// What the frozen thing has.
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Member>) -> Member { value[keyPath: keyPath] }

    /// The live thing, on the current thread, queue or actor; nil when it is gone.
    public func thaw(isolation: isolated (any Actor)? = #isolation) -> Value? { value.thaw(isolation: isolation) }
}

extension Frozen: Equatable where Value: Equatable {}
extension Frozen: Hashable where Value: Hashable {}

extension Frozen: Identifiable where Value: Identifiable {
    public var id: Value.ID { value.id }
}

extension Frozen: Encodable where Value: Encodable {
    /// Encodes the frozen thing itself.
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
