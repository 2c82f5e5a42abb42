/// A declaration that other parts of the schema can reference.
public enum SymbolModel: Hashable, Sendable {
    /// An object, an embedded object, an enum or a projection.
    case type(String)
    case property(owner: String, name: String)
    case enumCase(owner: String, name: String)
}

/// Edits that remove or add entries of a file. They are computed while the YAML is parsed, because lint rules know
/// source ranges but not YAML syntax.
public struct FixItModel: Hashable, Sendable {
    /// The ranges to delete when an entry is removed, including its comma or line. The key is the range of the entry's
    /// name or value.
    public var removals: [SourceSpan: [SourceSpan]] = [:]
    /// The edits that add `renamedFrom` with the current name. The key is the range of the declaration's name.
    public var renamedFromAdditions: [SourceSpan: [Edit]] = [:]

    public init() {}
}
