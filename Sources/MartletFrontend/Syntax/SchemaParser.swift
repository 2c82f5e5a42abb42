import MartletSchema

/// Parses the YAML tree of a file into declarations, and collects diagnostics.
struct SchemaParser {
    let source: SourceText
    let comments: CommentReader
    var diagnostics = LimitedFindings()
    var suggestions = Suggestions()
    var fixIts = FixItModel()
    private var declarations: [DeclarationSyntax] = []
    private var withInvalidNames: [DeclarationSyntax] = []

    init(source: SourceText, comments: CommentReader) {
        self.source = source
        self.comments = comments
    }

    mutating func parse(_ root: YAMLNode?) -> FileSyntax {
        switch root {
        case nil, .broken: break
        case .scalar(let scalar) where scalar.isEmpty: break
        case .mapping(let mapping):
            let items = entries(mapping)
            let keys = keys(items, .file)
            for section in keys.keys(of: items) where keys.value(section.key) != nil {
                parseSection(section.key, section.entry)
            }
        case .scalar, .sequence:
            if let root {
                report(
                    .wrongShape, "a schema file holds sections such as 'objects:', not \(root.shape)", at: root.span)
            }
        }
        return FileSyntax(
            source: source, declarations: declarations, withInvalidNames: withInvalidNames, ignores: comments.ignores,
            fixIts: fixIts)
    }

    private mutating func parseSection(_ kind: String, _ section: YAMLEntry) {
        guard let mapping = mapping(section.value, of: "'\(kind)'", holds: "names and what they mean") else { return }
        for entry in entries(mapping) {
            let name = name(entry.key, of: "type")
            // A declaration with an invalid name is parsed as well, so that its other mistakes are reported too.
            guard let declaration = parseDeclaration(kind, name ?? entry.key.spanned, entry) else { continue }
            if name == nil { withInvalidNames.append(declaration) } else { declarations.append(declaration) }
        }
    }

    private mutating func parseDeclaration(
        _ kind: String, _ name: Spanned<String>, _ entry: YAMLEntry
    ) -> DeclarationSyntax? {
        switch kind {
        case "enums": parseEnum(name, entry).map { .enumeration($0) }
        case "objects": parseObject(name, entry, isEmbedded: false).map { .object($0) }
        case "embedded": parseObject(name, entry, isEmbedded: true).map { .object($0) }
        default: parseProjection(name, entry).map { .projection($0) }
        }
    }

    private mutating func parseProjection(_ name: Spanned<String>, _ entry: YAMLEntry) -> ProjectionSyntax? {
        guard let mapping = mapping(entry.value, of: "projection '\(name.value)'", holds: "'of' and 'properties'")
        else {
            return nil
        }
        let keys = keys(entries(mapping), .projection)
        var root: Spanned<String>?
        if let value = keys.value("of") {
            root = self.name(value, of: "type", as: "the root of a projection")
        } else {
            report(.wrongShape, "projection '\(name.value)' names no object to project; write 'of:'", at: name.span)
        }
        var labels: [LabelSyntax] = []
        if let value = keys.value("properties") {
            if let properties = self.mapping(value, of: "'properties'", holds: "labels and key paths") {
                for label in entries(properties) {
                    let labelName = self.name(label.key, of: "label")
                    guard let path = keyPath(label.value, of: labelName ?? label.key.spanned) else { continue }
                    labels.append(
                        LabelSyntax(
                            name: labelName ?? label.key.spanned,
                            documentation: comments.documentation(before: label.key.span), path: path))
                }
            }
        } else {
            report(
                .wrongShape, "projection '\(name.value)' has no properties; list them under 'properties:'",
                at: name.span)
        }
        return ProjectionSyntax(
            name: name, documentation: documentation(entry, keys), root: root, labels: labels,
            deprecation: deprecation(keys))
    }

    // MARK: Shared readers

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

    mutating func keys(_ items: [YAMLEntry], _ kind: MappingKind) -> KeyReader {
        let keys = KeyReader(items, kind: kind, suggestions: &suggestions)
        diagnostics += keys.diagnostics
        return keys
    }

    mutating func mapping(_ node: YAMLNode, of owner: String, holds content: String) -> YAMLMapping? {
        switch node {
        case .mapping(let mapping): return mapping
        case .broken: return nil
        case .scalar(let scalar) where scalar.misspacedEntry != nil: return misspacedMapping(scalar)
        default:
            let span = node.span.isEmpty ? node.span.beginning : node.span
            report(.wrongShape, "\(owner) holds \(content), not \(node.shape)", at: span)
            return nil
        }
    }

    /// Reports a missing or misplaced space, as in `name:String` and `name :String`. If the mapping has no other entry,
    /// YAML reads the whole mapping as a scalar. Parsing continues as if the author had written `name: String`.
    private mutating func misspacedMapping(_ scalar: YAMLScalar) -> YAMLMapping? {
        guard let entry = scalar.misspacedEntry else { return nil }
        let end = entry.key.span.end
        let colonOffset = source.bytes[end...].firstIndex(of: Byte.colon) ?? end
        let colon = SourceSpan(file: source.file, start: colonOffset, end: colonOffset + 1)
        let all = SourceSpan(file: source.file, start: end, end: colonOffset + 1)
        let name = entry.key.text.shortened
        let message =
            colonOffset == end
            ? "no space after the ':' of '\(name)'; YAML reads this as one word"
            : "the space belongs after the ':' of '\(name)', not before it; write '\(name): '"
        let edit = colonOffset == end ? Edit(colon.ending, " ") : Edit(all, ": ")
        report(
            .yamlMistake, message, at: colon, label: "a space belongs after this", help: "write '\(name): '",
            fixes: [Fix("write '\(name): '", .safe, [edit])])
        return YAMLMapping(span: scalar.span, entries: [entry], isFlow: false)
    }

    /// Returns the scalar of a node, or reports a missing value, a list or a mapping.
    mutating func text(_ node: YAMLNode, of owner: String) -> YAMLScalar? {
        switch node {
        case .scalar(let scalar) where !scalar.isEmpty: return scalar
        case .broken: return nil
        default:
            report(.wrongShape, "\(owner) is text, not \(node.shape)", at: node.span)
            return nil
        }
    }

    /// Returns a name that is valid in generated code, or reports an invalid name.
    mutating func name(_ scalar: YAMLScalar, of kind: String) -> Spanned<String>? {
        if let problem = NameRules.problem(of: scalar.text, kind: kind) {
            let fixes = problem.replacement.map { [Fix("write '\($0)'", .suggested, [Edit(scalar.span, $0)])] } ?? []
            report(
                .reservedName, problem.message, at: scalar.span,
                help: problem.replacement.map { "write '\($0)'" }, fixes: fixes)
            return nil
        }
        return scalar.spanned
    }

    mutating func name(_ node: YAMLNode, of kind: String, as owner: String) -> Spanned<String>? {
        text(node, of: owner).flatMap { name($0, of: kind) }
    }

    /// Parses a list of names, or one name without a list.
    mutating func names(_ node: YAMLNode, of kind: String, as owner: String) -> [Spanned<String>] {
        switch node {
        case .sequence(let sequence): sequence.items.compactMap { name($0, of: kind, as: "an entry of \(owner)") }
        case .scalar: [name(node, of: kind, as: owner)].compactMap(\.self)
        case .broken: []
        case .mapping:
            { () -> [Spanned<String>] in
                report(.wrongShape, "\(owner) holds a list of names, not a mapping", at: node.span)
                return []
            }()
        }
    }

    mutating func keyPath(_ node: YAMLNode, of owner: Spanned<String>) -> KeyPathSyntax? {
        if case .scalar(let scalar) = node, scalar.isEmpty {
            report(.wrongShape, "'\(owner.value)' has no key path; write one such as 'owner.name'", at: owner.span)
            return nil
        }
        guard let scalar = text(node, of: "a key path") else { return nil }
        var segments: [Spanned<String>] = []
        var start = 0
        for part in scalar.text.utf8.split(separator: Byte.dot, omittingEmptySubsequences: false) {
            let text = String(decoding: part, as: UTF8.self)
            let range = start..<start + part.count
            guard NameRules.isPropertyName(text) else {
                // An empty segment is reported at the dot next to it.
                let dot = range.isEmpty ? max(0, start - 1)..<max(1, start) : range
                let place = scalar.span(of: dot)
                let what =
                    text.isEmpty
                    ? "a segment is empty, so write names with one '.' between them"
                    : "'\(text.shortened)' is not a name, so write names with '.' between them"
                report(.unknownName, "cannot read this key path; \(what)", at: place)
                return nil
            }
            segments.append(Spanned(text, scalar.span(of: range)))
            start = range.upperBound + 1
        }
        return KeyPathSyntax(segments: segments, span: scalar.span)
    }

    mutating func documentation(_ entry: YAMLEntry, _ keys: KeyReader?) -> String? {
        if let value = keys?.value("doc"), let scalar = text(value, of: "'doc'") {
            var bytes = scalar.text.utf8[...]
            while bytes.last?.isLineBreak == true { bytes = bytes.dropLast() }
            return String(decoding: bytes, as: UTF8.self)
        }
        return comments.documentation(before: entry.key.span)
    }

    mutating func deprecation(_ keys: KeyReader) -> DeprecationModel? {
        guard let entry = keys["deprecated"] else { return nil }
        guard case .scalar(let scalar) = entry.value else {
            _ = text(entry.value, of: "'deprecated'")
            return nil
        }
        if scalar.isPlain, scalar.text == "false" { return nil }
        if scalar.isPlain, let boolean = BooleanWord(scalar.text) {
            reportAmbiguous(scalar, boolean)
            return nil
        }
        let isBare = scalar.isNull || scalar.isPlain && scalar.text == "true" || scalar.text.isEmpty
        return DeprecationModel(message: isBare ? nil : scalar.text, span: entry.key.span)
    }

    mutating func renamedFrom(_ keys: KeyReader) -> Spanned<String>? {
        keys.value("renamedFrom").flatMap { name($0, of: "earlier", as: "'renamedFrom'") }
    }

    /// Parses `true` or `false`. Other spellings of booleans are reported.
    mutating func boolean(_ node: YAMLNode, of owner: String) -> Bool? {
        guard let scalar = text(node, of: owner) else { return nil }
        if scalar.text == "true" || scalar.text == "false" { return scalar.text == "true" }
        if let boolean = BooleanWord(scalar.text) {
            reportAmbiguous(scalar, boolean)
        } else {
            report(.wrongShape, "\(owner) is 'true' or 'false', not '\(scalar.text.shortened)'", at: scalar.span)
        }
        return nil
    }

    private mutating func reportAmbiguous(_ scalar: YAMLScalar, _ boolean: BooleanWord) {
        let right = "\(boolean.value)"
        report(
            .ambiguousScalar, "'\(scalar.text)' is a boolean only in some YAML versions; write '\(right)'",
            at: scalar.span,
            help: "write '\(right)'", fixes: [Fix("write '\(right)'", .safe, [Edit(scalar.span, right)])])
    }
}
