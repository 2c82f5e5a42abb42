import MartletSchema
import SwiftSyntax

/// Computes the locations of syntax nodes.
struct SourceLocator {
    let source: SourceText

    func span(of node: some SyntaxProtocol) -> SourceSpan {
        SourceSpan(
            file: source.file, start: node.positionAfterSkippingLeadingTrivia.utf8Offset,
            end: node.endPositionBeforeTrailingTrivia.utf8Offset)
    }

    /// Returns a name without backticks.
    func name(_ token: TokenSyntax) -> Spanned<String> {
        Spanned(token.plainText, span(of: token))
    }
}

extension TokenSyntax {
    var plainText: String { identifier?.name ?? text }
}

extension SyntaxProtocol {
    /// The source text of the node on one line, shortened to 60 characters for messages.
    var lineText: String {
        let words = trimmedDescription.split { $0.isWhitespace }.joined(separator: " ")
        return words.count > 60 ? words.prefix(59) + "…" : words
    }
}

/// Finds the first syntax error.
final class SyntaxErrorFinder: SyntaxVisitor {
    private(set) var offset: Int?

    init() { super.init(viewMode: .all) }

    override func visit(_ node: UnexpectedNodesSyntax) -> SyntaxVisitorContinueKind {
        addError(at: node.positionAfterSkippingLeadingTrivia.utf8Offset)
        return .skipChildren
    }

    override func visit(_ token: TokenSyntax) -> SyntaxVisitorContinueKind {
        if token.presence == .missing { addError(at: token.position.utf8Offset) }
        return .visitChildren
    }

    private func addError(at position: Int) { offset = min(offset ?? position, position) }
}

/// Finds the classes in function bodies and closures. Code outside of the function cannot use such a class.
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

/// Finds the capitalized names in expressions. These are the names of types that the code creates or queries.
final class UsedNameFinder: SyntaxVisitor {
    private(set) var names: Set<String> = []

    init() { super.init(viewMode: .sourceAccurate) }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        let name = node.baseName.plainText
        if name.first?.isUppercase == true { names.insert(name) }
        return .visitChildren
    }
}
