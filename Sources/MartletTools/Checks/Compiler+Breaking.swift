public import MartletCompiler
import MartletFrontend
import MartletLint
public import MartletSchema

/// The lowest level at which a breaking change is an error. The raw values are the values of the option `--level`.
public enum BreakingThreshold: String, CaseIterable, Sendable {
    case data
    case source
    case query

    fileprivate var level: BreakingLevel {
        switch self {
        case .data: .data
        case .source: .source
        case .query: .query
        }
    }
}

/// The result of a comparison of two versions of a schema.
public struct Comparison: Sendable {
    /// The breaking changes, or the errors of the new schema. They are sorted by location.
    public let diagnostics: [Diagnostic]
    /// The files of the new schema, and the old files to which diagnostics refer. If the old schema has errors, these
    /// are the files of the old schema.
    public let sources: [SourceText]
    /// The errors of the old schema, which prevent a comparison; empty if the old schema is valid.
    public let oldErrors: [Diagnostic]

    public var hasErrors: Bool { diagnostics.contains(where: \.isError) }
}

extension Compiler {
    /// Finds changes of a schema that break data, code or queries of an older version. If the new schema has errors,
    /// the result contains these errors instead.
    ///
    /// - Parameters:
    ///   - old: the older schema. Its files can have the same `SourceFileID` as files of `new`.
    ///   - threshold: the lowest level at which a breaking change is an error.
    public static func compare(
        _ new: SchemaInput, with old: SchemaInput, failingFrom threshold: BreakingThreshold = .source
    ) -> Comparison {
        let current = Frontend.analyze(new.sources)
        let settings = configuration(of: new)
        guard let model = current.model, settings.errors.isEmpty else {
            return Comparison(
                diagnostics: settings.errors + current.diagnostics.filter(\.isError), sources: new.allSources,
                oldErrors: [])
        }
        let old = old.renumbered(after: new)
        let former = Frontend.analyze(old.sources)
        guard let oldModel = former.model else {
            return Comparison(
                diagnostics: [], sources: old.sources, oldErrors: former.diagnostics.filter(\.isError))
        }
        let changes =
            configurationChanges(configuration(of: old).model, settings.model)
            + BreakingChanges.between(oldModel, model)
        let diagnostics =
            changes
            .map { $0.diagnostic(failingFrom: threshold.level, sources: new.sources) }.sortedByLocation()
        let named = Set(diagnostics.flatMap(\.notes).compactMap(\.span?.file))
        return Comparison(
            diagnostics: diagnostics, sources: new.allSources + old.allSources.filter { named.contains($0.file) },
            oldErrors: [])
    }

    private static func configuration(of input: SchemaInput) -> (model: ConfigurationModel, errors: [Diagnostic]) {
        guard let source = input.configuration else { return (ConfigurationModel(), []) }
        let reading = Frontend.readConfiguration(source)
        return (reading.configuration, reading.diagnostics.filter(\.isError))
    }

    private static func configurationChanges(
        _ old: ConfigurationModel, _ new: ConfigurationModel
    ) -> [BreakingChange] {
        [narrowedAccess(old, new), movedNamespace(old.namespace, new.namespace)].compactMap(\.self)
    }

    /// A changed namespace breaks code that refers to types by their full names. The change does not affect stored
    /// data.
    private static func movedNamespace(_ old: Spanned<String>?, _ new: Spanned<String>?) -> BreakingChange? {
        guard old?.value != new?.value else { return nil }
        let (change, advice) =
            switch (old?.value, new?.value) {
            case (let old?, let new?): ("were in '\(old)' and are in '\(new)'", "write 'namespace: \(old)'")
            case (let old?, nil): ("were in '\(old)' and are in no namespace", "write 'namespace: \(old)'")
            case (nil, let new): ("were in no namespace and are in '\(new ?? "")'", "remove 'namespace'")
            }
        return BreakingChange(
            .source, "the types \(change), so code that names them stops compiling; \(advice)", at: new?.span,
            was: old?.span)
    }

    /// A lower access level breaks code that can no longer access the types.
    private static func narrowedAccess(_ old: ConfigurationModel, _ new: ConfigurationModel) -> BreakingChange? {
        let widestFirst: [AccessLevel] = [.public, .package, .internal]
        let (before, after) = (old.access ?? .public, new.access ?? .public)
        guard let was = widestFirst.firstIndex(of: before), let now = widestFirst.firstIndex(of: after), was < now
        else {
            return nil
        }
        return BreakingChange(
            .source,
            "the types were '\(before.rawValue)' and are '\(after.rawValue)', so code elsewhere stops compiling; "
                + "write 'access: \(before.rawValue)'",
            at: new.accessSpan, was: old.accessSpan)
    }
}

extension SchemaInput {
    /// A copy of the schema in which the files have identifiers that `other` does not use.
    fileprivate func renumbered(after other: SchemaInput) -> SchemaInput {
        let first = (other.allSources.map(\.file.index).max() ?? -1) + 1
        let texts = allSources.enumerated().map { index, source in
            SourceText(
                file: SourceFileID(first + index), relativePath: source.relativePath,
                displayPath: source.displayPath, bytes: source.bytes)
        }
        return SchemaInput(
            sources: Array(texts.prefix(sources.count)), configuration: configuration == nil ? nil : texts.last)
    }
}
