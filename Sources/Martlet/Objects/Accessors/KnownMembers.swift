import MartletEngine

/// The members of a result that were already read, for one state of the Realm.
struct KnownMembers {
    var allKeys: KeySequence?
    /// The first keys, up to a limit. They are read when one of them is requested before all keys are known. Until
    /// then, the array is empty.
    var firstKeys: [ObjectKey] = []
    /// The last keys in reverse order, up to the same limit. They are read when one of them is requested before all
    /// keys are known. Until then, the array is empty.
    var lastKeys: [ObjectKey] = []
    var count: Int?
    /// The first key, if it was requested before the other keys.
    var firstKey: FirstKey?
    /// The keys of all objects of the type, if they are consecutive numbers. Nil until they are needed.
    var keyRange: KeyRange?

    /// The position of each key. Nil until many keys have been searched for.
    private var positions: [ObjectKey: Int]?
    private var searchCount = 0
    /// The table of positions costs as much as hundreds of searches.
    private static let searchesBeforePositions = 64

    init(allKeys: KeySequence? = nil, count: Int? = nil) {
        self.allKeys = allKeys
        self.count = count
    }

    /// The first position of a key in `keys`, which need not be sorted.
    mutating func position(of key: ObjectKey, in keys: KeySequence) -> Int? {
        if let positions { return positions[key] }
        searchCount += 1
        if searchCount <= Self.searchesBeforePositions { return keys.firstPosition(of: key) }
        let positions = Dictionary(zip(keys, 0...), uniquingKeysWith: { first, _ in first })
        self.positions = positions
        return positions[key]
    }

    enum FirstKey {
        case key(ObjectKey)
        case none
    }

    enum KeyRange {
        case consecutive(Range<ObjectKey>)
        case other
    }
}
