/// Finds sections by their keys. All keys that do not equal themselves, such as NaN, share one section.
struct SectionPositions<Key: Hashable> {
    private var byKey: [Key: Int] = [:]
    /// The section of the keys that do not equal themselves.
    private var ofSelfUnequalKeys: Int?

    subscript(key: Key) -> Int? {
        get { key == key ? byKey[key] : ofSelfUnequalKeys }
        set { if key == key { byKey[key] = newValue } else { ofSelfUnequalKeys = newValue } }
    }

    /// True if both keys belong to the same section.
    static func areEqual(_ left: Key, _ right: Key) -> Bool {
        left == right || (left != left && right != right)
    }
}
