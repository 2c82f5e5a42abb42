/// A declaration that other parts of the schema can reference.
public enum SymbolModel: Hashable, Sendable {
    /// An object, an embedded object, an enum or a projection.
    case type(String)
    case property(owner: String, name: String)
    case enumCase(owner: String, name: String)
}

/// The edits of one file that lint rules offer as fixes. Each edit removes or adds an entry. The parser computes the
/// edits while it reads the YAML, because lint rules know source ranges but not YAML syntax.
public struct FixItModel: Hashable, Sendable {
    /// The ranges to delete if an entry is removed, including its comma or line. An entry of a mapping has two
    /// dictionary keys: the range of its name, and the range of its value. An element of a list has one dictionary key:
    /// the range of the element.
    public var removals: [SourceSpan: [SourceSpan]] = [:]
    /// The edits that add `renamedFrom` with the current name to a declaration. The dictionary key is the range of the
    /// declaration's name.
    public var renamedFromAdditions: [SourceSpan: [Edit]] = [:]

    public init() {}
}
