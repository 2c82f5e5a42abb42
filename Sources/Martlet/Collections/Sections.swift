import MartletEngine

/// The object keys of the elements, grouped into sections. Sections have the order of their first elements.
struct Sections<Key: Hashable> {
    private(set) var keys: [Key] = []
    /// The object keys of the elements of each section, in order.
    private(set) var members: [KeySequence] = []
    private(set) var positions = SectionPositions<Key>()

    init() {}

    /// Creates sections from their keys and elements, and the positions of the keys.
    init(keys: [Key], members: [KeySequence], positions: SectionPositions<Key>) {
        (self.keys, self.members, self.positions) = (keys, members, positions)
    }

    /// Creates the sections with the given keys and elements. No key is given twice.
    init(_ sections: [(key: Key, members: KeySequence)]) {
        keys = sections.map(\.key)
        members = sections.map(\.members)
        for (position, key) in keys.enumerated() { positions[key] = position }
    }

    /// The elements of the section with a key; nil if there is no such section.
    subscript(key: Key) -> KeySequence? { positions[key].map { members[$0] } }

    /// Groups elements into sections.
    struct Builder {
        private var keys: [Key] = []
        private var members: [[ObjectKey]] = []
        private var positions = SectionPositions<Key>()

        /// Adds an element, which follows the elements that were added before.
        mutating func append(_ member: ObjectKey, _ key: Key) {
            let position = positions[key] ?? keys.count
            if position == keys.count {
                positions[key] = position
                keys.append(key)
                members.append([])
            }
            members[position].append(member)
        }

        func finish() -> Sections { Sections(zip(keys, members).map { ($0, KeySequence($1)) }) }
    }
}
