import MartletSchema
import SwiftSyntax

/// Where a piece of syntax stands in its file.
struct SyntaxPlaces {
    let source: SourceText

    func span(of node: some SyntaxProtocol) -> SourceSpan {
        SourceSpan(
            file: source.file, start: node.positionAfterSkippingLeadingTrivia.utf8Offset,
            end: node.endPositionBeforeTrailingTrivia.utf8Offset)
    }

    /// A name without its backticks.
    func name(_ token: TokenSyntax) -> Spanned<String> {
        Spanned(token.plainText, span(of: token))
    }
}

extension TokenSyntax {
    var plainText: String { identifier?.name ?? text }
}

extension SyntaxProtocol {
    /// In one line, and not too long for a message.
    var lineText: String {
        let words = trimmedDescription.split { $0.isWhitespace }.joined(separator: " ")
        return words.count > 60 ? words.prefix(59) + "…" : words
    }
}

/// Finds where a text stops being Swift.
final class FaultFinder: SyntaxVisitor {
    private(set) var offset: Int?

    init() { super.init(viewMode: .all) }

    override func visit(_ node: UnexpectedNodesSyntax) -> SyntaxVisitorContinueKind {
        meet(node.positionAfterSkippingLeadingTrivia.utf8Offset)
        return .skipChildren
    }

    override func visit(_ token: TokenSyntax) -> SyntaxVisitorContinueKind {
        if token.presence == .missing { meet(token.position.utf8Offset) }
        return .visitChildren
    }

    private func meet(_ place: Int) { offset = min(offset ?? place, place) }
}

/// Classes in the bodies of functions and closures, which no other file can name.
final class LocalClassFinder: SyntaxVisitor {
    private(set) var classes: [ClassDeclSyntax] = []

    init() { super.init(viewMode: .sourceAccurate) }

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        if node.inheritanceClause != nil, isLocal(node) { classes.append(node) }
        return .visitChildren
    }

    private func isLocal(_ node: ClassDeclSyntax) -> Bool {
        sequence(first: Syntax(node), next: \.parent).contains {
            $0.is(CodeBlockSyntax.self) || $0.is(ClosureExprSyntax.self) || $0.is(AccessorBlockSyntax.self)
        }
    }
}

/// Names that begin with a capital and stand in expressions: what code makes or asks for.
final class UsedNameFinder: SyntaxVisitor {
    private(set) var names: Set<String> = []

    init() { super.init(viewMode: .sourceAccurate) }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        let name = node.baseName.plainText
        if name.first?.isUppercase == true { names.insert(name) }
        return .visitChildren
    }
}
