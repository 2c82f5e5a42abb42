import MartletEngine

/// The path of an untyped value inside a nested value, for messages. An example is `Owner.dogs[0].name`.
///
/// The text is created only when a message needs it.
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

/// The rules for the assignment of untyped values: the update policy, and whether objects in the values are copied.
public struct UntypedAssignment: Sendable {
    let policy: Realm.UpdatePolicy
    /// True if embedded objects and objects outside of this Realm are copied. If false, the objects themselves are
    /// added.
    let copiesObjects: Bool
    /// The path of the object or collection that is assigned to; nil for the object at the top level.
    private(set) var path: UntypedPath?
    /// The deferred assignments of the current call; nil before the call assigns its first nested value.
    private(set) var deferred: DeferredAssignments?

    init(
        policy: Realm.UpdatePolicy, copiesObjects: Bool, path: UntypedPath? = nil, deferred: DeferredAssignments? = nil
    ) {
        self.policy = policy
        self.copiesObjects = copiesObjects
        self.path = path
        self.deferred = deferred
    }

    /// The rules for one assignment by the program, for example to a property or to an element.
    static let single = UntypedAssignment(policy: .error, copiesObjects: false)

    /// These rules with the path of a property.
    func appending(_ property: PropertySchema, of object: ObjectBase) -> UntypedAssignment {
        at(.property(of: path ?? .root(object._typeName), property.name))
    }

    /// These rules with the path of an element of the collection `name`.
    func appending(_ place: ElementPlace?, of name: String) -> UntypedAssignment {
        switch place {
        case .position(let position): at(.index(of: path ?? .root(name), position))
        case .key(let key): at(.key(of: path ?? .root(name), key))
        case nil: path == nil ? at(.root(name)) : self
        }
    }

    /// These rules with the deferred assignments of the call.
    func with(_ deferred: DeferredAssignments) -> UntypedAssignment {
        UntypedAssignment(policy: policy, copiesObjects: copiesObjects, path: path, deferred: deferred)
    }

    /// These rules with a placeholder for the path. The full path would be as long as the chain of objects.
    var shortened: UntypedAssignment { path == nil ? self : at(.root("…")) }

    private func at(_ path: UntypedPath) -> UntypedAssignment {
        UntypedAssignment(policy: policy, copiesObjects: copiesObjects, path: path, deferred: deferred)
    }
}

/// The place of an element in a collection of given values.
enum ElementPlace {
    case position(Int)
    case key(String)
}
