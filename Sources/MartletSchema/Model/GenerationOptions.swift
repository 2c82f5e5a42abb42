/// The access level of the generated types.
public enum AccessLevel: String, CaseIterable, Sendable {
    case `public`
    case package
    case `internal`
}

/// Options for the generated code.
public struct GenerationOptions: Hashable, Sendable {
    public var access: AccessLevel
    /// The enum that contains all generated types; nil if they are declared at the top level of the module.
    public var namespace: String?

    public init(access: AccessLevel = .public, namespace: String? = nil) {
        self.access = access
        self.namespace = namespace
    }
}
