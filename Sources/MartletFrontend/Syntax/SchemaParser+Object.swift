import MartletSchema

/// Parses objects, embedded objects and their properties.
extension SchemaParser {
    mutating func parseObject(_ name: Spanned<String>, _ entry: YAMLEntry, isEmbedded: Bool) -> ObjectSyntax? {
        if case .scalar(let scalar) = entry.value, scalar.isEmpty {
            report(.wrongShape, "'\(name.value)' has no properties; list them under 'properties:'", at: name.span)
            return emptyObject(name, isEmbedded: isEmbedded)
        }
        guard let mapping = mapping(entry.value, of: "'\(name.value)'", holds: "keys such as 'properties:'") else {
            return emptyObject(name, isEmbedded: isEmbedded)
        }
        let keys = keys(entries(mapping), .object)
        var properties: [PropertySyntax] = []
        var withInvalidNames: [PropertySyntax] = []
        if let value = keys.value("properties") {
            properties = parseProperties(value, of: "'properties'", withInvalidNames: &withInvalidNames)
            if case .mapping(let mapping) = value, mapping.entries.isEmpty { reportNoProperties(name) }
        } else {
            reportNoProperties(name)
        }
        let ignored =
            keys.value("ignored").map { parseProperties($0, of: "'ignored'", withInvalidNames: &withInvalidNames) }
            ?? []
        var indexes: [Spanned<String>] = []
        if let value = keys.value("index") {
            recordListRemovals(of: "index", in: mapping)
            indexes = names(value, of: "property", as: "'index'")
        }
        recordRenamedFromEdits(name, in: mapping, isType: true)
        let unique = keys.value("unique").map { parseUnique($0) } ?? []
        if isEmbedded {
            // `parsePrimaryKey` reports the key `primaryKey`, because its diagnostic has another code.
            for key in MappingKey.ofObjectsOnly where key != "primaryKey" {
                guard let entry = keys[key] else { continue }
                let fixes = removalFixes(of: key, in: mapping)
                report(
                    .unknownKey, "embedded objects have no '\(key)'; remove it", at: entry.key.span, fixes: fixes)
            }
        }
        return ObjectSyntax(
            name: name, documentation: documentation(entry, keys), isEmbedded: isEmbedded,
            primaryKey: parsePrimaryKey(keys, isEmbedded: isEmbedded), indexes: isEmbedded ? [] : indexes,
            unique: isEmbedded ? [] : unique, properties: properties, ignored: ignored,
            withInvalidNames: withInvalidNames,
            keyPaths: keys.value("keypaths").map { parseKeyPaths($0) } ?? [], renamedFrom: renamedFrom(keys),
            deprecation: deprecation(keys), sync: isEmbedded ? nil : syncMode(keys),
            rules: isEmbedded ? [:] : rules(keys))
    }

    /// A placeholder for an object that could not be parsed, so that references to the object are not reported as
    /// missing.
    private func emptyObject(_ name: Spanned<String>, isEmbedded: Bool) -> ObjectSyntax {
        ObjectSyntax(
            name: name, documentation: nil, isEmbedded: isEmbedded, primaryKey: nil, indexes: [], unique: [],
            properties: [], ignored: [], withInvalidNames: [], keyPaths: [], renamedFrom: nil, deprecation: nil)
    }

    private mutating func reportNoProperties(_ name: Spanned<String>) {
        report(.wrongShape, "'\(name.value)' has no properties; list them under 'properties:'", at: name.span)
    }

    private mutating func parsePrimaryKey(_ keys: KeyReader, isEmbedded: Bool) -> Spanned<String>? {
        guard let entry = keys["primaryKey"], let value = keys.value("primaryKey") else { return nil }
        if isEmbedded {
            report(
                .badPrimaryKey, "embedded objects have no primary key; remove it", at: entry.key.span)
            return nil
        }
        if case .sequence(let sequence) = value {
            report(
                .badPrimaryKey, "a primary key is one property; write the others under 'unique:'", at: sequence.span)
            return nil
        }
        return name(value, of: "property", as: "'primaryKey'")
    }

    private mutating func parseUnique(_ node: YAMLNode) -> [[Spanned<String>]] {
        guard case .sequence(let sequence) = node else {
            if case .broken = node { return [] }
            report(.wrongShape, "'unique' holds lists of names, not \(node.shape); write '[[name]]'", at: node.span)
            return []
        }
        var result: [[Spanned<String>]] = []
        for item in sequence.items {
            if case .scalar(let scalar) = item, !scalar.isEmpty {
                report(
                    .wrongShape, "'unique' holds lists of names; write '[\(scalar.text.shortened)]'", at: scalar.span,
                    help: "write '[\(scalar.text.shortened)]'",
                    fixes: [Fix("write a list", .suggested, [Edit(scalar.span, "[\(scalar.text)]")])])
                continue
            }
            let list = names(item, of: "property", as: "'unique'")
            if !list.isEmpty { result.append(list) }
        }
        return result
    }

    private mutating func parseKeyPaths(_ node: YAMLNode) -> [KeyPathEntrySyntax] {
        guard let mapping = mapping(node, of: "'keypaths'", holds: "names and key paths") else { return [] }
        var result: [KeyPathEntrySyntax] = []
        for entry in entries(mapping) {
            guard let name = name(entry.key, of: "key path") else { continue }
            var paths: [KeyPathSyntax] = []
            var isList = false
            if case .sequence(let sequence) = entry.value {
                isList = true
                paths = sequence.items.compactMap { keyPath($0, of: name) }
                if sequence.items.isEmpty {
                    report(.wrongShape, "'\(name.value)' lists no key path; write one", at: sequence.span)
                }
            } else if let path = keyPath(entry.value, of: name) {
                paths = [path]
            }
            result.append(
                KeyPathEntrySyntax(
                    name: name, documentation: comments.documentation(before: entry.key.span), isList: isList,
                    paths: paths))
        }
        return result
    }

    // MARK: Properties

    private mutating func parseProperties(
        _ node: YAMLNode, of owner: String, withInvalidNames: inout [PropertySyntax]
    ) -> [PropertySyntax] {
        guard let mapping = mapping(node, of: owner, holds: "names and types") else { return [] }
        let entries = entries(mapping)
        var result: [PropertySyntax] = []
        result.reserveCapacity(entries.count)
        for entry in entries {
            if let name = name(entry.key, of: "property") {
                result.append(parseProperty(name, entry))
            } else {
                withInvalidNames.append(parseProperty(entry.key.spanned, entry))
            }
        }
        return result
    }

    private mutating func parseProperty(_ name: Spanned<String>, _ entry: YAMLEntry) -> PropertySyntax {
        if case .mapping(let expanded) = entry.value {
            if let type = dictionaryType(expanded, of: name) {
                return PropertySyntax(
                    name: name, documentation: nil, type: type, defaultValue: nil, renamedFrom: nil, deprecation: nil,
                    fullTextSpan: nil, onDelete: nil, deleteRule: nil)
            }
            return parseExpanded(name, entry, expanded)
        }
        let (type, literal) = parseType(entry.value, of: name)
        recordRenamedFromEdits(name, ofShort: entry.value)
        return PropertySyntax(
            name: name, documentation: comments.documentation(before: entry.key.span), type: type,
            defaultValue: literal, renamedFrom: nil, deprecation: nil, fullTextSpan: nil, onDelete: nil,
            deleteRule: nil)
    }

    private mutating func parseExpanded(
        _ name: Spanned<String>, _ entry: YAMLEntry, _ mapping: YAMLMapping
    ) -> PropertySyntax {
        let keys = keys(entries(mapping), .property)
        recordRenamedFromEdits(name, in: mapping, isType: false)
        recordRemoval(of: "fullText", in: mapping)
        var type: TypeSyntax?
        var literal: LiteralSyntax?
        if let value = keys["type"]?.value {
            (type, literal) = parseType(value, of: name)
        } else {
            report(.wrongShape, "property '\(name.value)' has no type; write 'type:'", at: name.span)
        }
        if let entry = keys["default"] {
            if let literal {
                report(
                    .unknownKey, "the type of '\(name.value)' has a default already; keep one of the two",
                    at: entry.key.span, notes: [DiagnosticNote("the other default", at: literal.span)])
            } else {
                literal = parseDefault(entry, of: name, removal: removal(of: "default", in: mapping))
            }
        }
        return PropertySyntax(
            name: name, documentation: documentation(entry, keys), type: type, defaultValue: literal,
            renamedFrom: renamedFrom(keys), deprecation: deprecation(keys), fullTextSpan: fullTextSpan(keys),
            onDelete: deletionRule("onDelete", keys), deleteRule: deletionRule("deleteRule", keys),
            localSpan: choice("sync", keys, among: [SyncMode.none], "'none' at a property")?.span,
            merge: choice("merge", keys, among: MergeMode.allCases, "'add'"), write: rule("write", keys))
    }

    private mutating func fullTextSpan(_ keys: KeyReader) -> SourceSpan? {
        guard let entry = keys["fullText"], boolean(entry.value, of: "'fullText'") == true else { return nil }
        return entry.key.span
    }

    private mutating func deletionRule(_ key: String, _ keys: KeyReader) -> Spanned<DeletionRule>? {
        choice(key, keys, among: DeletionRule.allCases, "'nullify', 'cascade' or 'deny'")
    }

    /// Parses a value that must be one of `choices`, and reports other values.
    ///
    /// - Parameter words: a description of the choices for the error message.
    mutating func choice<Choice: RawRepresentable<String>>(
        _ key: String, _ keys: KeyReader, among choices: [Choice], _ words: String
    ) -> Spanned<Choice>? {
        guard let value = keys.value(key), let scalar = text(value, of: "'\(key)'") else { return nil }
        if let choice = choices.first(where: { $0.rawValue == scalar.text }) { return Spanned(choice, scalar.span) }
        let names = suggestions.nearest(to: scalar.text, among: choices.map(\.rawValue))
        report(
            .wrongShape, "'\(key)' is \(words), not '\(scalar.text.shortened)'",
            at: scalar.span, help: Suggestions.question(names),
            fixes: names.map { Fix("write '\($0)'", .suggested, [Edit(scalar.span, $0)]) })
        return nil
    }

    /// Parses the value of `default:`. A value in YAML quotes is always a text, even if it looks like a number.
    private mutating func parseDefault(
        _ entry: YAMLEntry, of name: Spanned<String>, removal: SourceSpan?
    ) -> LiteralSyntax? {
        guard case .scalar(let scalar) = entry.value else {
            if case .broken = entry.value { return nil }
            report(
                .badDefault, "a default is a single value, not \(entry.value.shape); remove it", at: entry.value.span)
            return nil
        }
        if scalar.isEmpty {
            report(.badDefault, "'\(name.value)' has an empty default; write one or remove the key", at: entry.key.span)
            return nil
        }
        guard scalar.isPlain else {
            return LiteralSyntax(form: .quoted, text: scalar.text, span: scalar.span, removal: removal)
        }
        let result = LiteralParser.parse(Array(scalar.text.utf8), from: 0, in: scalar, removal: removal)
        diagnostics += result.diagnostics
        return result.literal
    }
}
