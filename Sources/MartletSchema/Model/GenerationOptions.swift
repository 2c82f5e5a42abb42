/// Who sees the generated types.
public enum AccessLevel: String, CaseIterable, Sendable {
    case `public`
    case package
    case `internal`
}

/// What the generator is asked for beside the schema.
public struct GenerationOptions: Hashable, Sendable {
    public var access: AccessLevel

    public init(access: AccessLevel = .public) {
        self.access = access
    }
}
