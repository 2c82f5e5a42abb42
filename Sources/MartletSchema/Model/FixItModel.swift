/// A declaration that other parts of the schema can reference.
public enum SymbolModel: Hashable, Sendable {
    /// An object, an embedded object, an enum or a projection.
    case type(String)
    case property(owner: String, name: String)
    case enumCase(owner: String, name: String)
}

/// The edits of one file that lint rules offer as fixes: they remove or add entries. They are computed while the YAML
/// is parsed, because lint rules know source ranges but not YAML syntax.
public struct FixItModel: Hashable, Sendable {
    /// The ranges to delete when an entry is removed, including its comma or line. An entry of a mapping is found by
    /// the range of its name and by the range of its value, an element of a list by its own range.
    public var removals: [SourceSpan: [SourceSpan]] = [:]
    /// The edits that add `renamedFrom` with the current name, by the range of the declaration's name.
    public var renamedFromAdditions: [SourceSpan: [Edit]] = [:]

    public init() {}
}
