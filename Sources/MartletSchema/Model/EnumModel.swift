/// One case of a persisted enum.
public struct EnumCaseModel: Hashable, Sendable {
    public enum RawValue: Hashable, Sendable {
        case int(Int64)
        case string(String)
    }

    public let name: String
    public let nameSpan: SourceSpan
    public let documentation: String?
    public let rawValue: RawValue

    public init(name: String, nameSpan: SourceSpan, documentation: String? = nil, rawValue: RawValue) {
        self.name = name
        self.nameSpan = nameSpan
        self.documentation = documentation
        self.rawValue = rawValue
    }
}

/// A persisted enum with at least one case.
public struct EnumModel: Hashable, Sendable {
    public let name: String
    public let nameSpan: SourceSpan
    public let documentation: String?
    public let raw: EnumRawKind
    public let cases: [EnumCaseModel]
    /// The case that represents all stored values that this version of the schema does not declare; nil if there is
    /// none.
    public let unknown: Spanned<String>?
    public let renamedFrom: Spanned<String>?
    public let deprecation: DeprecationModel?

    public init(
        name: String, nameSpan: SourceSpan, documentation: String? = nil, raw: EnumRawKind, cases: [EnumCaseModel],
        unknown: Spanned<String>? = nil, renamedFrom: Spanned<String>? = nil, deprecation: DeprecationModel? = nil
    ) {
        self.name = name
        self.nameSpan = nameSpan
        self.documentation = documentation
        self.raw = raw
        self.cases = cases
        self.unknown = unknown
        self.renamedFrom = renamedFrom
        self.deprecation = deprecation
    }

    public func enumCase(named name: String) -> EnumCaseModel? {
        cases.first { $0.name == name }
    }
}
