import MartletFrontend
import MartletLint
public import MartletSchema

/// From which level on a breaking change is an error; raw values are the words of `--level`.
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

/// The outcome of a comparison.
public struct Comparison: Sendable {
    /// By file and place.
    public let diagnostics: [Diagnostic]
    /// Every file of the new schema, and those of the old one that findings point into.
    public let sources: [SourceText]
    /// Why the old schema cannot be compared; empty when it can.
    public let oldErrors: [Diagnostic]

    public var hasErrors: Bool { diagnostics.contains(where: \.isError) }
}

extension Compiler {
    /// Says what of a schema breaks what an older one allowed. Errors of the new schema come in the place of that.
    ///
    /// - Parameters:
    ///   - old: its files may have the same numbers as those of `new`.
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
        let old = old.renumbered(behind: new)
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
            .map { $0.diagnostic(failingFrom: threshold.level, sources: new.sources) }.sortedByPlace()
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

    /// Code names types by the namespace that they stand in; stored data does not.
    private static func movedNamespace(_ old: Spanned<String>?, _ new: Spanned<String>?) -> BreakingChange? {
        guard old?.value != new?.value else { return nil }
        let (change, mend) =
            switch (old?.value, new?.value) {
            case (let old?, let new?): ("stood in '\(old)' and stand in '\(new)'", "write 'namespace: \(old)'")
            case (let old?, nil): ("stood in '\(old)' and stand in no namespace", "write 'namespace: \(old)'")
            case (nil, let new): ("stood in no namespace and stand in '\(new ?? "")'", "remove 'namespace'")
            }
        return BreakingChange(
            .source, "the types \(change), so code that names them stops compiling; \(mend)", at: new?.span,
            was: old?.span)
    }

    /// Types that fewer can see are gone for the others.
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
    /// The same files under numbers that `other` does not use.
    fileprivate func renumbered(behind other: SchemaInput) -> SchemaInput {
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
