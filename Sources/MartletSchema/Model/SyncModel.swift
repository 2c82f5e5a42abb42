/// How the objects of a type are synchronized. Raw values are the values of `sync` at a type.
public enum SyncMode: String, CaseIterable, Sendable {
    /// Not at all: the objects are only in the local file. This is the mode of a type without the key `sync`.
    case none
    /// Clients send their changes and receive the changes of other clients.
    case both
    /// Clients send the objects that they create, and receive none.
    case upload
}

/// How concurrent changes of one property are combined. Raw values are the values of `merge`.
public enum MergeMode: String, CaseIterable, Sendable {
    /// The differences of both changes are added to the value: the property is a counter.
    case add
}

/// What a rule of a type restricts. Raw values are the keys at a type.
public enum RuleKind: String, CaseIterable, Sendable {
    /// Which objects a user receives.
    case read
    /// Which objects a user may create, change and delete, unless a more specific rule exists.
    case write
    /// Which objects a user may create.
    case insert
    /// Which objects a user may delete.
    case delete
}

/// A rule of a type or of a property: a condition on an object and on the user.
public struct RuleModel: Hashable, Sendable {
    public let condition: RuleCondition
    /// The range of the rule's text.
    public let span: SourceSpan

    public init(condition: RuleCondition, span: SourceSpan) {
        self.condition = condition
        self.span = span
    }
}

/// What a schema says about the synchronization of an object type.
public struct SyncModel: Hashable, Sendable {
    public let mode: SyncMode
    /// The range of the value of `sync`; nil if the type does not have this key.
    public let modeSpan: SourceSpan?
    public let rules: [RuleKind: RuleModel]

    public init(mode: SyncMode = .none, modeSpan: SourceSpan? = nil, rules: [RuleKind: RuleModel] = [:]) {
        self.mode = mode
        self.modeSpan = modeSpan
        self.rules = rules
    }

    /// The rule that applies to an operation. Without a rule `insert` or `delete`, the rule `write` applies; without a
    /// rule `write`, the rule `read` applies. nil if every user may perform the operation.
    public func rule(for kind: RuleKind) -> RuleModel? {
        if let rule = rules[kind] { return rule }
        return switch kind {
        case .read: nil
        case .write: rules[.read]
        case .insert, .delete: rule(for: .write)
        }
    }
}

/// What a schema says about the synchronization of a property.
public struct PropertySyncModel: Hashable, Sendable {
    /// True for `sync: none`: the values stay in the local file.
    public let isLocal: Bool
    public let merge: MergeMode?
    /// The rule that an object and a user must satisfy for a change of the property.
    public let write: RuleModel?

    public init(isLocal: Bool = false, merge: MergeMode? = nil, write: RuleModel? = nil) {
        self.isLocal = isLocal
        self.merge = merge
        self.write = write
    }
}

extension SchemaModel {
    /// Whether at least one type is synchronized. If so, types without the key `sync` are only in local files.
    public var isSynchronized: Bool { objects.contains { $0.sync.mode != .none } }
}
