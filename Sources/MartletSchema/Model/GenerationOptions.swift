/// Who sees the generated types.
public enum AccessLevel: String, CaseIterable, Sendable {
    case `public`
    case package
    case `internal`
}

/// What the generator is asked for beside the schema.
public struct GenerationOptions: Hashable, Sendable {
    public var access: AccessLevel
    /// The enum that all generated types stand in; nil where they stand in the module itself.
    public var namespace: String?

    public init(access: AccessLevel = .public, namespace: String? = nil) {
        self.access = access
        self.namespace = namespace
    }
}
