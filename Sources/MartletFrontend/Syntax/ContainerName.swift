/// The name of a generic type, such as `List` in `List<Int>`. Names from other languages and from the Realm SDKs are
/// recognized as well.
package struct ContainerName {
    enum Kind {
        case list
        case set
        case map
        case linkingObjects
        case optional
    }

    /// The generic types of the schema language.
    package static let all = ["List", "Set", "Map", "LinkingObjects"]

    let kind: Kind
    /// The spelling in the schema language.
    let spelling: String
    /// Whether the name corresponds to exactly one type. An ordered set, for example, can correspond to a set or to a
    /// list.
    let isCertain: Bool

    init?(_ name: String) {
        switch name.asciiLowercased {
        case "list", "array", "realmlist", "vector", "sequence", "contiguousarray", "nsarray", "rlmarray":
            self.init(kind: .list, spelling: "List")
        case "set", "mutableset", "hashset", "nsset", "rlmset":
            self.init(kind: .set, spelling: "Set")
        case "orderedset": self.init(kind: .set, spelling: "Set", isCertain: false)
        case "map", "dictionary", "dict", "hashmap", "nsdictionary", "rlmdictionary":
            self.init(kind: .map, spelling: "Map")
        case "linkingobjects", "backlinks", "backlink", "inverse", "linkingobject", "rlmlinkingobjects":
            self.init(kind: .linkingObjects, spelling: "LinkingObjects")
        case "optional": self.init(kind: .optional, spelling: "Optional")
        default: return nil
        }
    }

    private init(kind: Kind, spelling: String, isCertain: Bool = true) {
        self.isCertain = isCertain
        self.kind = kind
        self.spelling = spelling
    }
}
