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
        guard let model = current.model else {
            return Comparison(
                diagnostics: current.diagnostics.filter(\.isError), sources: new.sources, oldErrors: [])
        }
        let oldSources = old.renumbered(behind: new).sources
        let former = Frontend.analyze(oldSources)
        guard let oldModel = former.model else {
            return Comparison(
                diagnostics: [], sources: oldSources, oldErrors: former.diagnostics.filter(\.isError))
        }
        let diagnostics = BreakingChanges.between(oldModel, model)
            .map { $0.diagnostic(failingFrom: threshold.level, sources: new.sources) }.sortedByPlace()
        let named = Set(diagnostics.flatMap(\.notes).compactMap(\.span?.file))
        return Comparison(
            diagnostics: diagnostics, sources: new.sources + oldSources.filter { named.contains($0.file) },
            oldErrors: [])
    }
}

extension SchemaInput {
    /// The same files under numbers that `other` does not use.
    fileprivate func renumbered(behind other: SchemaInput) -> SchemaInput {
        let first = (other.allSources.map(\.file.index).max() ?? -1) + 1
        return SchemaInput(
            sources: sources.enumerated().map { index, source in
                SourceText(
                    file: SourceFileID(first + index), relativePath: source.relativePath,
                    displayPath: source.displayPath, bytes: source.bytes)
            })
    }
}
