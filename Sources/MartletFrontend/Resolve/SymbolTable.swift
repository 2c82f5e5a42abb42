import MartletSchema

/// The declared names of all files of a schema.
struct SymbolTable {
    enum Kind {
        case enumeration(EnumRawKind?)
        case object
        case embedded
        case projection

        var isEmbedded: Bool {
            if case .embedded = self { true } else { false }
        }

        var word: String {
            switch self {
            case .enumeration: "enum"
            case .object: "object"
            case .embedded: "embedded object"
            case .projection: "projection"
            }
        }
    }

    struct Symbol {
        let name: Spanned<String>
        let kind: Kind
    }

    private var symbols: [String: Symbol] = [:]
    private var folded: [String: Symbol] = [:]
    /// The names of the built-in types, followed by those of the declared enums and objects in the order of their
    /// declaration.
    private(set) var typeNames = ScalarKind.allCases.map(\.rawValue)
    private(set) var objectNames: [String] = []

    mutating func reserveCapacity(_ count: Int) {
        symbols.reserveCapacity(count)
        folded.reserveCapacity(count)
    }

    subscript(name: String) -> Symbol? { symbols[name] }

    /// Returns a diagnostic if a type has the name of the namespace. In generated code, the name could refer to the
    /// type instead of the namespace.
    func clash(with namespace: Spanned<String>) -> Diagnostic? {
        guard let symbol = symbols[namespace.value] else { return nil }
        let note = "the \(symbol.kind.word) '\(symbol.name.value)' is declared here"
        return Diagnostic(
            .badConfiguration, "the namespace '\(namespace.value)' has the name of a type in it; choose another name",
            at: namespace.span, notes: [DiagnosticNote(note, at: symbol.name.span)])
    }

    /// Registers a declaration. If its name is built in, reserved or already declared, reports a diagnostic instead and
    /// returns false.
    mutating func insert(_ declaration: DeclarationSyntax, diagnostics: inout LimitedFindings) -> Bool {
        let kind: Kind =
            switch declaration {
            case .enumeration(let syntax): .enumeration(syntax.raw)
            case .object(let syntax): syntax.isEmbedded ? .embedded : .object
            case .projection: .projection
            }
        let symbol = Symbol(name: declaration.name, kind: kind)
        let name = symbol.name.value
        if ScalarKind(rawValue: name) != nil {
            diagnostics.append(
                Diagnostic(
                    .duplicateType, "'\(name)' is a built-in type; choose another name", at: symbol.name.span,
                    label: "built in"))
            return false
        }
        if NameRules.reservedTypeNames.contains(name) {
            diagnostics.append(
                Diagnostic(
                    .reservedName, "a type cannot be named '\(name)', which generated code needs; choose another name",
                    at: symbol.name.span))
            return false
        }
        if let first = folded[name.asciiLowercased] {
            let detail =
                first.name.value == name
                ? "'\(name)' is declared twice; rename or remove one"
                : "'\(name)' differs from '\(first.name.value)' only in case; rename one"
            diagnostics.append(
                Diagnostic(
                    .duplicateType, detail, at: symbol.name.span, label: "declared again here",
                    notes: [
                        DiagnosticNote(
                            "the \(first.kind.word) '\(first.name.value)' is declared here", at: first.name.span)
                    ]))
            return false
        }
        folded[name.asciiLowercased] = symbol
        symbols[name] = symbol
        switch kind {
        case .projection: break
        case .enumeration: typeNames.append(name)
        case .object, .embedded:
            typeNames.append(name)
            objectNames.append(name)
        }
        return true
    }
}
