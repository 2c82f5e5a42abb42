/// A thing of a schema that other places name.
public enum SymbolModel: Hashable, Sendable {
    /// An object, an embedded object, an enum or a projection.
    case type(String)
    case property(owner: String, name: String)
    case enumCase(owner: String, name: String)
}

/// How a file's text changes when something is taken out of it or written into it. Rules know places and no YAML; what
/// surrounds a place is known where the YAML is read.
public struct MendModel: Hashable, Sendable {
    /// What goes, with its comma or its line, when the entry goes whose name or value stands at the key.
    public var removals: [SourceSpan: [SourceSpan]] = [:]
    /// By the place of a declaration's name: the edits that add `renamedFrom` with that name.
    public var renamedFromAdditions: [SourceSpan: [Edit]] = [:]

    public init() {}
}
