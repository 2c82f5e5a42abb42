/// How the objects of a type are synchronized. The raw values are the values of the key `sync` of a type.
public enum SyncMode: String, CaseIterable, Sendable {
    /// The objects are not synchronized, and exist only in the local file. This is the mode of a type without the key
    /// `sync`.
    case none
    /// Clients send their changes and receive the changes of other clients.
    case both
    /// Clients send the objects that they create, and do not receive objects.
    case upload
}

/// How concurrent changes of one property are combined. The raw values are the values of the key `merge`.
public enum MergeMode: String, CaseIterable, Sendable {
    /// The property is a counter. The differences of all concurrent changes are added to its value.
    case add
}

/// What a rule of a type restricts. The raw values are the keys of the rules.
public enum RuleKind: String, CaseIterable, Sendable {
    /// Which objects a user receives.
    case read
    /// Which objects a user may change. If there is no rule `insert` or `delete`, also which objects a user may create
    /// or delete.
    case write
    /// Which objects a user may create.
    case insert
    /// Which objects a user may delete.
    case delete
}

/// A rule of a type or of a property. It is a condition on an object and on the user.
public struct RuleModel: Hashable, Sendable {
    public let condition: RuleCondition
    /// The source range of the text of the rule.
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

    /// The rule that applies to an operation; nil if every user may perform the operation. If there is no rule `insert`
    /// or `delete`, the rule `write` applies instead. If there is no rule `write`, the rule `read` applies instead.
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
    /// Whether the property has `sync: none`, so that its values stay in the local file.
    public let isLocal: Bool
    public let merge: MergeMode?
    /// The rule that the object and the user must satisfy if the user changes the property.
    public let write: RuleModel?

    public init(isLocal: Bool = false, merge: MergeMode? = nil, write: RuleModel? = nil) {
        self.isLocal = isLocal
        self.merge = merge
        self.write = write
    }
}

extension SchemaModel {
    /// Whether at least one type is synchronized.
    public var isSynchronized: Bool { objects.contains { $0.sync.mode != .none } }
}
