import MartletValues

/// An element of a downloaded list.
package struct ListElement: Sendable, Hashable {
    package let position: ListPosition
    package let value: SyncValue

    package init(position: ListPosition, value: SyncValue) { (self.position, self.value) = (position, value) }
}

// A message contains a whole collection as one value. The value of a list property is a `.list` of pairs, each with a
// position and an element. The value of a set property is a `.list` of the members. The value of a map property is a
// `.map`.
extension SyncValue {
    /// Returns the value of a list property.
    ///
    /// - Parameter elements: the elements in the order of their positions.
    package static func elements(_ elements: [ListElement]) -> SyncValue {
        .list(elements.map { .list([.scalar(.blob($0.position.bytes)), $0.value]) })
    }

    /// The elements of a list property; nil if this value is not a list of pairs in ascending order of their positions.
    package var elements: [ListElement]? {
        guard case .list(let pairs) = self else { return nil }
        var elements: [ListElement] = []
        elements.reserveCapacity(pairs.count)
        for pair in pairs {
            guard case .list(let parts) = pair, parts.count == 2, case .scalar(.blob(let bytes)) = parts[0],
                let position = ListPosition(bytes), elements.last.map({ $0.position < position }) ?? true
            else { return nil }
            elements.append(ListElement(position: position, value: parts[1]))
        }
        return elements
    }

    /// The members of a set property; nil if this value is not a list.
    package var members: [SyncValue]? { if case .list(let members) = self { members } else { nil } }

    /// The entries of a map property; nil if this value is not a map.
    package var entries: [MapEntry]? { if case .map(let entries) = self { entries } else { nil } }
}
