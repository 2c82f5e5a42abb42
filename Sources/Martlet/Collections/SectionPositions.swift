/// Finds sections by their keys. All keys that do not equal themselves, such as NaN, have one section.
struct SectionPositions<Key: Hashable> {
    private var byKey: [Key: Int] = [:]
    private var ofUnequal: Int?

    subscript(key: Key) -> Int? {
        get { key == key ? byKey[key] : ofUnequal }
        set { if key == key { byKey[key] = newValue } else { ofUnequal = newValue } }
    }

    /// True for two keys of one section.
    static func areEqual(_ left: Key, _ right: Key) -> Bool {
        left == right || (left != left && right != right)
    }
}
