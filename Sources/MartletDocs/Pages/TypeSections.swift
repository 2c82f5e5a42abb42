import MartletSchema

/// Writes the section of each type.
struct TypeSections {
    let schemaUses: SchemaUses
    let html: HTMLFragments
    /// The schema file of each type.
    let paths: [String: String]

    init(_ model: SchemaModel) {
        schemaUses = SchemaUses(model)
        html = HTMLFragments(anchors: schemaUses.anchors)
        var paths: [String: String] = [:]
        for file in model.files {
            for declaration in file.declarations { paths[declaration.name] = file.path.withVisibleBytes }
        }
        self.paths = paths
    }

    // MARK: Types

    func section(of object: ObjectModel) -> String {
        var badges: [String] = []
        if let key = object.primaryKey { badges.append("primary key \(key.value)") }
        for list in object.unique where list.count > 1 {
            badges.append("unique together: " + list.map(\.value).joined(separator: ", "))
        }
        if object.sync.mode != .none {
            badges.append(object.sync.mode == .both ? "synchronized" : "synchronized: upload only")
        }
        var text = head(
            object.name, kind: object.isEmbedded ? "embedded" : "object", badges: badges,
            renamedFrom: object.renamedFrom?.value, deprecation: object.deprecation, object.documentation)
        let unique = Set(object.unique.filter { $0.count == 1 }.map { $0[0].value })
        text += list("Properties", object.properties.map { member($0, of: object, isUnique: unique.contains($0.name)) })
        text += list("Not stored", object.ignored.map { member($0, of: object, isUnique: false) })
        text += list("Key paths", object.keyPaths.map { member($0, of: object) })
        text += rules(object.sync)
        return text + usedBy(object.name) + "</article>\n"
    }

    private func rules(_ sync: SyncModel) -> String {
        let rows = RuleKind.allCases.compactMap { kind in
            sync.rules[kind].map { rule in
                "<dt>\(kind.rawValue)</dt>\n<dd><code>\(Markup.escapedLine(rule.text))</code></dd>\n"
            }
        }
        return rows.isEmpty ? "" : "<h4>Rules</h4>\n<dl class=\"uses\">\n\(rows.joined())</dl>\n"
    }

    func section(of enumeration: EnumModel) -> String {
        var badges = ["stored as \(enumeration.raw.rawValue)"]
        if let unknown = enumeration.unknown { badges.append("unknown values read as \(unknown.value)") }
        var text = head(
            enumeration.name, kind: "enum", badges: badges, renamedFrom: enumeration.renamedFrom?.value,
            deprecation: enumeration.deprecation, enumeration.documentation)
        text += list("Cases", enumeration.cases.map { member($0, of: enumeration) })
        return text + usedBy(enumeration.name) + "</article>\n"
    }

    func section(of projection: ProjectionModel) -> String {
        var text = head(
            projection.name, kind: "projection", badges: [], renamedFrom: nil, deprecation: projection.deprecation,
            projection.documentation)
        text += "<p>Shows <code>\(html.link(projection.root.value))</code>.</p>\n"
        text += list("Labels", projection.labels.map { member($0, of: projection) })
        return text + "</article>\n"
    }

    private func head(
        _ name: String, kind: String, badges: [String], renamedFrom: String?, deprecation: DeprecationModel?,
        _ documentation: String?
    ) -> String {
        let shown = Markup.escapedLine(name)
        let path = Markup.escapedLine(paths[name] ?? "")
        var marks = [HTMLFragments.badge(kind, kind)] + badges.map { HTMLFragments.badge($0) }
        if let renamedFrom { marks.append(HTMLFragments.badge("formerly \(renamedFrom)")) }
        return """
            <article id="\(shown)" class="type" data-kind="\(kind)" tabindex="-1" aria-labelledby="\(shown)-name">
            <h3 id="\(shown)-name"\(deprecation == nil ? "" : " class=\"old\"")><a href="#\(shown)">\(shown)</a></h3>
            <p class="marks">\(marks.joined(separator: " ")) <span class="path">\(path)</span></p>
            \(warning(deprecation))\(html.documentation(documentation, in: name))
            """
    }

    private func warning(_ deprecation: DeprecationModel?) -> String {
        guard let deprecation else { return "" }
        let message = deprecation.message.map { ": " + Markup.escaped($0) } ?? ""
        return "<p class=\"warning\"><strong>Deprecated</strong>\(message)</p>\n"
    }

    // MARK: Members

    private func list(_ title: String, _ members: [String]) -> String {
        guard !members.isEmpty else { return "" }
        return "<h4>\(title)</h4>\n<ul class=\"members\">\n\(members.joined())</ul>\n"
    }

    private struct Member {
        let owner: String
        let name: String
        var anchor: String?
        let kind: String
        /// The HTML that follows the name, such as the type.
        let signature: String
        var badges: [String] = []
        var deprecation: DeprecationModel?
        let documentation: String?
    }

    private func item(_ member: Member) -> String {
        let id = Markup.escapedLine(member.anchor ?? "\(member.owner).\(member.name)")
        let name = "<a class=\"own\" href=\"#\(id)\">\(Markup.escapedLine(member.name))</a>"
        let badges = member.badges.map { HTMLFragments.badge($0) }.joined(separator: " ")
        return """
            <li id="\(id)" data-kind="\(member.kind)" tabindex="-1">
            <div class="what"><code\(member.deprecation == nil ? "" : " class=\"old\"")>\(name)</code>\
            <code>\(member.signature)</code></div>
            <div class="about">\(badges.isEmpty ? "" : "<p class=\"marks\">\(badges)</p>\n")\
            \(warning(member.deprecation))\(html.documentation(member.documentation, in: member.owner))</div>
            </li>

            """
    }

    private func member(_ property: PropertyModel, of object: ObjectModel, isUnique: Bool) -> String {
        var badges: [String] = []
        if property.isPrimaryKey { badges.append("primary key") }
        if property.isIndexed { badges.append("indexed") }
        if isUnique { badges.append("unique") }
        if property.isFullText { badges.append("full text") }
        if property.type.isSingle, property.type.isOptional { badges.append("optional") }
        if property.onDelete != .nullify { badges.append("on delete: \(property.onDelete.rawValue)") }
        if property.deleteRule != .nullify { badges.append("delete rule: \(property.deleteRule.rawValue)") }
        if let old = property.renamedFrom { badges.append("formerly \(old.value)") }
        if property.sync.isLocal { badges.append("local only") }
        if property.sync.merge == .add { badges.append("counter") }
        if let write = property.sync.write { badges.append("write: \(write.text)") }
        var signature = typeText(property.type)
        if let value = property.defaultValue {
            let text = TextMeasure.shortened(DefaultText.text(value), size: 12, to: 600)
            signature += " <span class=\"default\">= \(Markup.escapedLine(text))</span>"
        }
        return item(
            Member(
                owner: object.name, name: property.name, kind: "property", signature: signature, badges: badges,
                deprecation: property.deprecation, documentation: property.documentation))
    }

    private func member(_ entry: DeclaredKeyPathModel, of object: ObjectModel) -> String {
        item(
            Member(
                owner: object.name, name: entry.name, anchor: SchemaUses.anchor(of: entry, in: object),
                kind: "key path",
                signature: entry.paths.map(pathText).joined(separator: ", "), documentation: entry.documentation))
    }

    private func member(_ item: EnumCaseModel, of enumeration: EnumModel) -> String {
        let raw =
            switch item.rawValue {
            case .int(let value): String(value)
            case .string(let text): DefaultText.quoted(text)
            }
        return self.item(
            Member(
                owner: enumeration.name, name: item.name, kind: "case", signature: "= \(Markup.escapedLine(raw))",
                documentation: item.documentation))
    }

    private func member(_ label: ProjectionLabelModel, of projection: ProjectionModel) -> String {
        let path = label.path
        let type = typeText(path.segments.map(\.type)[...], isOptional: false)
        return item(
            Member(
                owner: projection.name, name: label.name, kind: "label", signature: "= \(pathText(path)): \(type)",
                badges: path.isWritable ? [] : ["read only"], documentation: label.documentation))
    }

    /// The type of a key path's value.
    private func typeText(_ segments: ArraySlice<PropertyTypeModel>, isOptional: Bool) -> String {
        guard let first = segments.first else { return "" }
        let rest = segments.dropFirst()
        let isSingleOptional = first.isSingle && first.isOptional
        // The text of an optional type already contains the question mark.
        if rest.isEmpty { return typeText(first) + (isOptional && !isSingleOptional ? "?" : "") }
        if first.isSingle { return typeText(rest, isOptional: isOptional || isSingleOptional) }
        return "collection of \(typeText(rest, isOptional: false))" + (isOptional ? "?" : "")
    }

    /// The type in schema syntax, with links to the declarations of its names.
    private func typeText(_ type: PropertyTypeModel) -> String {
        let element = html.link(type.value.name) + (type.isOptional ? "?" : "")
        return switch type.kind {
        case .single: element
        case .list: "List&lt;\(element)&gt;"
        case .set: "Set&lt;\(element)&gt;"
        case .map: "Map&lt;\(element)&gt;"
        case .linkingObjects(let owner, let property):
            "LinkingObjects&lt;\(html.link(owner)).\(html.link("\(owner).\(property)", property))&gt;"
        }
    }

    /// A key path in which each segment links to its property.
    private func pathText(_ path: KeyPathModel) -> String {
        path.segments.map { html.link("\($0.owner).\($0.property)", $0.property) }.joined(separator: ".")
    }

    // MARK: Uses

    private func usedBy(_ name: String) -> String {
        guard let uses = schemaUses.uses[name], !uses.isEmpty else { return "" }
        let groups: [(String, [String])] = [
            ("Links here", uses.links.map(text)), ("Embedded by", uses.embeddings.map(text)),
            ("Type of", uses.enumProperties.map(text)),
            ("Projections", uses.projections.map { "<code>\(html.link($0))</code>" }),
            ("Key paths through this type", uses.paths.map(text)),
        ]
        let rows = groups.filter { !$0.1.isEmpty }.map { title, links in
            "<dt>\(title)</dt>\n<dd>\(links.joined(separator: ", "))</dd>\n"
        }
        return "<h4>Used by</h4>\n<dl class=\"uses\">\n\(rows.joined())</dl>\n"
    }

    private func text(of use: SchemaUses.Use) -> String { "<code>\(html.link(use.anchor, use.name))</code>" }
}
