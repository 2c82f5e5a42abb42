public import MartletSchema

/// Writes a documentation page of a schema: one self-contained file that works offline and can be printed. The
/// page has a search field, and the browser's search works too.
public struct ReferencePage {
    private let model: SchemaModel
    private let title: String
    private let sections: TypeSections

    /// The page as HTML. The result does not depend on the order of the files.
    public static func html(of model: SchemaModel, title: String) -> String {
        ReferencePage(model: model, title: title).document
    }

    private init(model: SchemaModel, title: String) {
        self.model = model
        self.title = title
        sections = TypeSections(model)
    }

    /// The types of one kind, with a heading.
    private struct Group {
        let id: String
        let heading: String
        let names: [String]
        let deprecated: Set<String>
        let text: String
    }

    private var groups: [Group] {
        let (embedded, objects) = (model.objects.filter(\.isEmbedded), model.objects.filter { !$0.isEmbedded })
        let deprecatedNames = { (types: [(String, Bool)]) in Set(types.filter(\.1).map(\.0)) }
        let all = [
            Group(
                id: "-objects", heading: "Objects", names: objects.map(\.name),
                deprecated: deprecatedNames(objects.map { ($0.name, $0.deprecation != nil) }),
                text: objects.map(sections.section).joined()),
            Group(
                id: "-embedded", heading: "Embedded objects", names: embedded.map(\.name),
                deprecated: deprecatedNames(embedded.map { ($0.name, $0.deprecation != nil) }),
                text: embedded.map(sections.section).joined()),
            Group(
                id: "-enums", heading: "Enums", names: model.enums.map(\.name),
                deprecated: deprecatedNames(model.enums.map { ($0.name, $0.deprecation != nil) }),
                text: model.enums.map(sections.section).joined()),
            Group(
                id: "-projections", heading: "Projections", names: model.projections.map(\.name),
                deprecated: deprecatedNames(model.projections.map { ($0.name, $0.deprecation != nil) }),
                text: model.projections.map(sections.section).joined()),
        ]
        return all.filter { !$0.names.isEmpty }
    }

    // MARK: The document

    private var document: String {
        let groups = groups
        let escapedTitle = Markup.escapedLine(title)
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="generator" content="Martlet">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
            script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
            <meta name="color-scheme" content="light dark">
            <title>\(escapedTitle): schema reference</title>
            <style>
            \(ReferenceStyle.text)</style>
            </head>
            <body id="-top">
            <a class="skip" href="#-main">Skip to the types</a>
            <header class="top">
            <a class="brand" href="#-top">\(escapedTitle)</a>
            \(search)
            </header>
            <div class="columns">
            \(navigation(groups))
            <main id="-main" tabindex="-1">
            <h1>\(escapedTitle)</h1>
            \(overview(groups))
            \(diagram)
            \(groups.map(section).joined())</main>
            </div>
            <script>
            \(ReferenceScript.text)</script>
            </body>
            </html>

            """
    }

    /// The search field. The script of the page shows it, so it stays hidden if scripts are disabled.
    private var search: String {
        """
        <div role="search" hidden>
        <label class="unseen" for="-search">Search the schema</label>
        <input id="-search" type="search" role="combobox" aria-expanded="false" aria-controls="-results" \
        aria-autocomplete="list" autocomplete="off" spellcheck="false" placeholder="Search: press /">
        <ul id="-results" role="listbox" aria-label="Found" hidden></ul>
        <p id="-found" class="unseen" role="status"></p>
        </div>
        """
    }

    private func navigation(_ groups: [Group]) -> String {
        let lists = groups.map { group in
            let items = group.names.map { name in
                let escapedName = Markup.escapedLine(name)
                let style = group.deprecated.contains(name) ? " class=\"old\"" : ""
                return "<li><a href=\"#\(escapedName)\"\(style)>\(escapedName)</a></li>\n"
            }
            return "<h2><a href=\"#\(group.id)\">\(group.heading)</a></h2>\n<ul>\n\(items.joined())</ul>\n"
        }
        return """
            <nav aria-label="Types">
            <details open>
            <summary>All types</summary>
            \(lists.joined())</details>
            </nav>
            """
    }

    private func overview(_ groups: [Group]) -> String {
        let counts = groups.map { "<a href=\"#\($0.id)\">\(count(of: $0))</a>" }
        let files = HTMLFragments.count(model.files.count, "file", "files")
        guard !counts.isEmpty else { return "<p class=\"lead\">The schema declares nothing.</p>" }
        return "<p class=\"lead\">\(counts.joined(separator: ", ")) in \(files).</p>"
    }

    private func count(of group: Group) -> String {
        let words =
            switch group.id {
            case "-objects": ("object", "objects")
            case "-embedded": ("embedded object", "embedded objects")
            case "-enums": ("enum", "enums")
            default: ("projection", "projections")
            }
        return HTMLFragments.count(group.names.count, words.0, words.1)
    }

    private var diagram: String {
        guard !model.files.flatMap(\.declarations).isEmpty else { return "" }
        let writer = SVGWriter(DiagramBuilder.build(model, options: DiagramOptions())) { "#\($0.name)" }
        return """
            <section class="diagram" aria-labelledby="-diagram">
            <h2 id="-diagram">Diagram</h2>
            <label><input type="checkbox" class="fit" checked> Fit to the width</label>
            <div class="picture" role="region" aria-labelledby="-diagram" tabindex="0">
            \(writer.element)</div>
            </section>
            """
    }

    private func section(_ group: Group) -> String {
        """
        <section aria-labelledby="\(group.id)">
        <h2 id="\(group.id)">\(group.heading)</h2>
        \(group.text)</section>

        """
    }
}
