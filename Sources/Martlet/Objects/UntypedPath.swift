import MartletEngine

/// Where an untyped value stands among the values it was given with, for messages: `Owner.dogs[0].name`.
///
/// The text is made when a message needs it.
indirect enum UntypedPath: Sendable {
    case root(String)
    case property(of: UntypedPath, String)
    case index(of: UntypedPath, Int)
    case key(of: UntypedPath, String)

    var text: String {
        switch self {
        case .root(let name): name
        case .property(let parent, let name): "\(parent.text).\(name)"
        case .index(let parent, let position): "\(parent.text)[\(position)]"
        case .key(let parent, let key): "\(parent.text)['\(key)']"
        }
    }
}

/// What assigning untyped values does with rows that exist and with objects among the values.
public struct UntypedAssignment: Sendable {
    let policy: Realm.UpdatePolicy
    /// True where objects that are not in this Realm, and embedded ones, are copied; otherwise they are added themselves.
    let copiesObjects: Bool
    /// The place of the object or collection that is assigned to; nil for the object that a call names.
    private(set) var path: UntypedPath?

    init(policy: Realm.UpdatePolicy, copiesObjects: Bool, path: UntypedPath? = nil) {
        self.policy = policy
        self.copiesObjects = copiesObjects
        self.path = path
    }

    /// An assignment of one property by the user.
    static let single = UntypedAssignment(policy: .error, copiesObjects: false)

    /// The same for the value of a property.
    func entering(_ property: PropertySchema, of object: ObjectBase) -> UntypedAssignment {
        at(.property(of: path ?? .root(object._typeName), property.name))
    }

    /// The same for an element of the collection `name`.
    func entering(_ place: ElementPlace?, of name: String) -> UntypedAssignment {
        switch place {
        case .position(let position): at(.index(of: path ?? .root(name), position))
        case .key(let key): at(.key(of: path ?? .root(name), key))
        case nil: path == nil ? at(.root(name)) : self
        }
    }

    private func at(_ path: UntypedPath) -> UntypedAssignment {
        UntypedAssignment(policy: policy, copiesObjects: copiesObjects, path: path)
    }
}

/// The place of an element among those that are given.
enum ElementPlace {
    case position(Int)
    case key(String)
}
