import MartletSchema

/// Resolves the names in declarations, checks the declarations, and builds the model.
struct Resolver {
    /// A property that key paths can use.
    struct Member {
        let nameSpan: SourceSpan
        /// The resolved type; nil if the type is invalid and a diagnostic was reported.
        let type: PropertyTypeModel?
        /// The range of the `?` after the type; nil if there is none.
        let optional: SourceSpan?
        /// Whether the property has `sync: none`.
        var isLocal = false
    }

    /// An object with its stored properties indexed by name.
    struct ObjectScope {
        let syntax: ObjectSyntax
        var members: [String: Member] = [:]
        /// The names of the stored properties, in the order of the schema.
        var names: [String] = []
        /// The names of the ignored properties.
        var ignored: Set<String> = []
    }

    /// An enum with its cases indexed by name, because thousands of defaults may refer to it.
    struct EnumScope {
        let syntax: EnumSyntax
        /// The names of the cases, in the order of the schema.
        let names: [String]
        /// The names of the cases as a set, which makes lookups fast.
        let cases: Set<String>

        init(_ syntax: EnumSyntax) {
            self.syntax = syntax
            names = syntax.cases.map(\.name.value)
            cases = Set(names)
        }
    }

    let files: [FileSyntax]
    /// Words of text that could not be parsed. A name among these words is not reported as missing.
    let wordsInUnparsedText: Set<String>
    var symbols = SymbolTable()
    var scopes: [String: ObjectScope] = [:]
    var enums: [String: EnumScope] = [:]
    var references: [SymbolModel: [SourceSpan]] = [:]
    /// The names of link properties, by the type that declares them and by their target type. Diagnostics about linking
    /// objects use these names.
    var linkNames: [String: [String: [String]]] = [:]
    var suggestions = Suggestions()
    var diagnostics = LimitedFindings()

    init(_ files: [FileSyntax], wordsInUnparsedText: Set<String>) {
        self.files = files
        self.wordsInUnparsedText = wordsInUnparsedText
    }

    /// The models of all files. They form a valid schema if no error was reported.
    mutating func resolve() -> [FileModel] {
        let count = files.reduce(0) { $0 + $1.declarations.count }
        symbols.reserveCapacity(count)
        scopes.reserveCapacity(count)
        var declared: [[DeclarationSyntax]] = []
        var unregisteredObjects: [ObjectSyntax] = []
        for file in files {
            for case .object(let syntax) in file.withInvalidNames { unregisteredObjects.append(syntax) }
            declared.append(
                file.declarations.filter { declaration in
                    let isNew = symbols.insert(declaration, diagnostics: &diagnostics)
                    if !isNew, case .object(let syntax) = declaration { unregisteredObjects.append(syntax) }
                    return isNew
                })
        }
        for case .enumeration(let syntax) in declared.joined() { enums[syntax.name.value] = EnumScope(syntax) }
        for case .object(let syntax) in declared.joined() { scopes[syntax.name.value] = scope(of: syntax) }
        // The symbol table does not contain objects with duplicate names and declarations with invalid names. Their
        // contents are checked here.
        for syntax in unregisteredObjects { _ = model(of: syntax, in: scope(of: syntax)) }
        for case .enumeration(let syntax) in files.flatMap(\.withInvalidNames) { _ = model(of: syntax) }
        for case .projection(let syntax) in files.flatMap(\.withInvalidNames) { _ = model(of: syntax) }
        for case .object(let syntax) in declared.joined() { checkLinkingObjects(of: syntax) }
        for case .object(let syntax) in declared.joined() { checkSync(of: syntax) }
        EmbeddingCheck.run(declared.joined().compactMap(\.objectName), scopes, &diagnostics)
        var models: [FileModel] = []
        for (file, declarations) in zip(files, declared) {
            models.append(
                FileModel(
                    file: file.source.file, path: file.source.relativePath,
                    declarations: declarations.compactMap { model(of: $0) }, ignores: file.ignores,
                    fixIts: file.fixIts))
        }
        return models
    }

    private mutating func model(of declaration: DeclarationSyntax) -> DeclarationModel? {
        switch declaration {
        case .enumeration(let syntax): model(of: syntax).map { .enumeration($0) }
        case .object(let syntax):
            .object(model(of: syntax, in: scopes[syntax.name.value] ?? ObjectScope(syntax: syntax)))
        case .projection(let syntax): model(of: syntax).map { .projection($0) }
        }
    }

    mutating func recordReference(_ symbol: SymbolModel, at span: SourceSpan) {
        references[symbol, default: []].append(span)
    }

    mutating func report(
        _ code: DiagnosticCode, _ message: @autoclosure () -> String, at span: SourceSpan, label: String? = nil,
        notes: @autoclosure () -> [DiagnosticNote] = [], help: @autoclosure () -> String? = nil,
        fixes: @autoclosure () -> [Fix] = []
    ) {
        guard diagnostics.storesFindings(at: span) else {
            return diagnostics.recordDropped(at: span, isError: code.severity == .error)
        }
        diagnostics.append(
            Diagnostic(code, message(), at: span, label: label, notes: notes(), help: help(), fixes: fixes()))
    }

    /// Reports an unresolved name, with suggestions. Reports nothing if the declaration may be in text that could not
    /// be parsed.
    mutating func reportMissing(
        _ code: DiagnosticCode, _ message: String, _ name: Spanned<String>, among candidates: [String],
        label: String, notes: [DiagnosticNote] = [], where isLegal: (String) -> Bool = { _ in true }
    ) {
        guard !wordsInUnparsedText.contains(name.value) else { return }
        guard diagnostics.storesFindings(at: name.span) else {
            return diagnostics.recordDropped(at: name.span, isError: code.severity == .error)
        }
        let names = suggestions.nearest(to: name.value, among: candidates, where: isLegal)
        report(
            code, message, at: name.span, label: label, notes: notes,
            help: Suggestions.question(names) ?? "declare it, or correct the name",
            fixes: names.map { Fix("write '\($0)'", .suggested, [Edit(name.span, $0)]) })
    }
}

extension DeclarationSyntax {
    fileprivate var objectName: String? {
        if case .object(let syntax) = self { syntax.name.value } else { nil }
    }
}
