import MartletCompiler
import MartletDocs
import MartletSchema
import MartletTools
import ModelTesting
import Testing

private let sampleDefaults: [(value: DefaultModel, text: String)] = [
    (.date(0), "2001-01-01T00:00:00Z"),
    (.date(-978_307_200), "1970-01-01T00:00:00Z"),
    (.date(99_619_200.25), "2004-02-28T00:00:00.250Z"),
    (.date(99_705_600), "2004-02-29T00:00:00Z"),
    (.date(-1), "2000-12-31T23:59:59Z"),
    (.uuid(Array(0..<16)), "00010203-0405-0607-0809-0a0b0c0d0e0f"),
    (.objectId(Array(244...255)), "f4f5f6f7f8f9fafbfcfdfeff"),
    (.string("a\"\\\n"), #"&quot;a\&quot;\\\n&quot;"#),
    (.decimal128("-1E+4"), "-1E+4"),
    (.now, "now"),
    (.newUUID, "new"),
    (.floating(0.1), "0.1"),
    (.data([1, 2]), "2 bytes"),
]

@Suite("Docs: the page")
struct PageTests {
    private func page(_ model: SchemaModel, title: String = "Sample") -> String {
        ReferencePage.html(of: model, title: title)
    }

    private func kennel() throws -> String { try page(DocsSample.model("Schemas/Kennel"), title: "Kennel") }

    /// Returns the text of the element with this id and tag, without the end tag.
    private func element(_ id: String, _ tag: String, of page: String) throws -> Substring {
        let start = try #require(page.firstRange(of: "<\(tag) id=\"\(id)\""))
        let end = try #require(page[start.upperBound...].firstRange(of: "</\(tag)>"))
        return page[start.lowerBound..<end.lowerBound]
    }

    private func ids(_ page: String) -> [String] { page.matches(of: /\sid="([^"]*)"/).map { String($0.1) } }

    @Test(
        "every declaration has one anchor, and every internal link leads to an anchor S44",
        arguments: DocsSample.folders)
    func anchors(_ folder: String) throws {
        let model = try DocsSample.model(folder)
        let page = page(model)
        let ids = ids(page)
        #expect(Set(ids).count == ids.count)
        var expected: [String] = []
        for object in model.objects {
            let members = object.properties.map(\.name) + object.ignored.map(\.name)
            // A key path can have the name of a property. Its anchor then ends with `-path`.
            let paths = object.keyPaths.map { members.contains($0.name) ? "\($0.name)-path" : $0.name }
            expected += [object.name] + (members + paths).map { "\(object.name).\($0)" }
        }
        for item in model.enums { expected += [item.name] + item.cases.map { "\(item.name).\($0.name)" } }
        for item in model.projections { expected += [item.name] + item.labels.map { "\(item.name).\($0.name)" } }
        #expect(Set(expected).subtracting(ids).isEmpty)
        let targets = page.matches(of: /href="#([^"]*)"/).map { String($0.1) }
        #expect(targets.count > expected.count)
        #expect(Set(targets).subtracting(ids).isEmpty)
    }

    @Test("a property shows its type, default, attributes and documentation S44")
    func properties() throws {
        let page = try kennel()
        let story = try element("Dog.story", "li", of: page)
        for text in [
            "String?", "full text", "optional", "formerly bio", "<strong>Deprecated</strong>: Use notes.",
            "How it came",
        ] {
            #expect(story.contains(text), "\(text)")
        }
        let size = try element("Dog.size", "li", of: page)
        #expect(size.contains(##"<a href="#Size">Size</a> <span class="default">= small</span>"##))
        #expect(try element("Dog.id", "li", of: page).contains("primary key"))
        #expect(try element("Dog.age", "li", of: page).contains("indexed"))
        #expect(try element("Dog.siblings", "li", of: page).contains(##"List&lt;<a href="#Dog">Dog</a>&gt;"##))
        #expect(
            try element("Person.dogs", "li", of: page).contains(
                ##"LinkingObjects&lt;<a href="#Dog">Dog</a>.<a href="#Dog.owner">owner</a>&gt;"##))
        // A name in backquotes links to the property with this name in the same object type.
        #expect(try element("Dog.kennel", "li", of: page).contains(##"<code><a href="#Dog.number">number</a></code>"##))
        let dog = try element("Dog", "article", of: page)
        #expect(dog.contains("unique together: kennel, number"))
        #expect(dog.contains("A dog that lives in the kennel."))
        #expect(dog.contains("Dog.yaml"))
        #expect(dog.contains("<h4>Not stored</h4>"))
    }

    @Test("delete rules and former names are shown S47 S44")
    func deletion() throws {
        let page = try page(DocsSample.model("Tests/CompilerTests/Fixtures/Hospital"))
        #expect(try element("Admission.patient", "li", of: page).contains("on delete: deny"))
        #expect(try element("Operation.treatment", "li", of: page).contains("on delete: cascade"))
        #expect(try element("Employee.badge", "li", of: page).contains("unique"))
        #expect(try element("Person", "article", of: kennel()).contains("formerly Human"))
    }

    @Test("each segment of key paths and labels links to its property S44")
    func paths() throws {
        let page = try kennel()
        let card = try element("Dog.card", "li", of: page)
        #expect(
            card.contains(
                ##"<a href="#Dog.owner">owner</a>.<a href="#Person.address">address</a>.<a href="#Address.city">city</a>"##
            ))
        let city = try element("PersonProjection.homeCity", "li", of: page)
        #expect(city.contains(##"= <a href="#Person.address">address</a>.<a href="#Address.city">city</a>: String?"##))
        let names = try element("PersonProjection.friendNames", "li", of: page)
        #expect(names.contains("collection of String"))
        #expect(names.contains("read only"))
    }

    @Test("a type lists its uses S44")
    func uses() throws {
        let page = try kennel()
        let person = try element("Person", "article", of: page)
        let start = try #require(person.firstRange(of: "<h4>Used by</h4>"))
        let uses = person[start.upperBound...]
        for use in [
            "Person.friends", "Dog.owner", "Task.assignee", "PersonProjection", "DogProjection.ownerName", "Dog.card",
        ] {
            #expect(uses.contains("<a href=\"#\(use)\">\(use)</a>"), "\(use)")
        }
        #expect(try element("Address", "article", of: page).contains(##"<dd><code><a href="#Person.address">"##))
        #expect(try element("Size", "article", of: page).contains("<dt>Type of</dt>\n<dd><code><a href=\"#Dog.size\">"))
        #expect(try !element("DemoObject", "article", of: page).contains("Used by"))
    }

    @Test("a synchronized type shows its mode, its rules, its counters and its local properties S44 S52")
    func synchronization() throws {
        let page = try page(DocsSample.model("Tests/CompilerTests/Fixtures/Good"))
        let article = try element("Article", "article", of: page)
        #expect(article.contains(">synchronized</span>"))
        #expect(article.contains("<dt>delete</dt>\n<dd><code>FALSEPREDICATE</code></dd>"))
        #expect(article.contains(">local only</span>") && article.contains(">counter</span>"))
        #expect(try element("Crash", "article", of: page).contains(">synchronized: upload only</span>"))
        #expect(!(try element("Scratch", "article", of: page).contains("synchronized")))
    }

    @Test("an enum shows its cases, raw values and the case for unknown values S44")
    func enums() throws {
        let page = try kennel()
        #expect(try element("Country.norway", "li", of: page).contains("= &quot;NO&quot;"))
        let country = try element("Country", "article", of: page)
        #expect(country.contains("stored as String"))
        #expect(country.contains("unknown values read as norway"))
        #expect(try element("Size", "article", of: page).contains("stored as "))
    }

    @Test("the boxes of the diagram link to the types S44")
    func diagram() throws {
        let page = try kennel()
        let start = try #require(page.firstRange(of: "<svg "))
        let end = try #require(page.firstRange(of: "</svg>"))
        let picture = try ParsedSVG(String(page[start.lowerBound..<end.upperBound]))
        #expect(picture.boxes.count == 10)
        #expect(picture.boxes.allSatisfy { $0.href == "#\($0.name)" })
    }

    @Test("the page loads no external resource S44")
    func selfContained() throws {
        let page = try kennel()
        #expect(page.contains("default-src 'none'"))
        #expect(page.matches(of: /https?:/).count == 1)
        #expect(page.contains(#"<svg xmlns="http://www.w3.org/2000/svg""#))
        #expect(page.firstMatch(of: /<(link|img|iframe|object|embed|base)\b/) == nil)
        #expect(page.firstMatch(of: /\s(src|srcset)=/) == nil)
        #expect(page.firstMatch(of: /@import|url\([^#]/) == nil)
    }

    @Test("with 'Fit to the width', the diagram has no minimum width S44")
    func fits() throws {
        let page = try kennel()
        let rule = try #require(page.split(separator: "\n").first { $0.contains(".diagram:has(.fit:checked)") })
        #expect(rule.contains("width:100%"))
        #expect(!rule.contains("min-width"))
    }

    @Test("the page has landmarks, headings without gaps, and a label for every control S44")
    func accessible() throws {
        let page = try kennel()
        for piece in [
            #"<html lang="en">"#, "<header", #"<nav aria-label="Types">"#, #"<main id="-main""#,
            ##"href="#-main">Skip"##,
            #"<label class="unseen" for="-search">"#, #"role="combobox""#, #"role="listbox""#, #"role="status""#,
        ] {
            #expect(page.contains(piece), "\(piece)")
        }
        let start = try #require(page.firstRange(of: "<main"))
        let main = page[start.lowerBound...]
        let levels = main.matches(of: /<h([1-6])/).compactMap { Int($0.1) }
        #expect(levels.first == 1)
        #expect(levels.count { $0 == 1 } == 1)
        #expect(zip(levels, levels.dropFirst()).allSatisfy { $1 <= $0 + 1 })
    }

    @Test("no schema text becomes markup S44", arguments: DocsSample.hostile)
    func hostile(_ text: String) {
        // Paragraphs and code spans become tags. Therefore the plain text has the same number of paragraphs and code
        // spans as the hostile text.
        let plain = text.contains("\n\n") ? "one\n\ntwo" : text.contains("`a`b`") ? "one `a` two `b`" : "plain"
        let expected = TagShape(page(DocsSample.hostileModel(plain))).tags
        let shown = page(DocsSample.hostileModel(text), title: text)
        #expect(TagShape(shown).tags == expected)
        #expect(shown.matches(of: /<script/).count == 1)
        #expect(shown.matches(of: /<\/script/).count == 1)
        #expect(!shown.unicodeScalars.contains { TagShape.forbidden.contains($0) })
        let named = page(DocsSample.hostileModel("plain", name: text))
        #expect(TagShape(named).tags == TagShape(page(DocsSample.hostileModel("plain"))).tags)
    }

    @Test("hostile documentation is displayed as text S44")
    func shown() {
        let page = page(DocsSample.hostileModel("</script><b>\"'&"))
        #expect(page.contains("<p>&lt;/script&gt;&lt;b&gt;&quot;&#39;&amp;</p>"))
    }

    @Test("defaults are written as in a schema S44", arguments: sampleDefaults)
    func defaults(value: DefaultModel, text: String) {
        let object = Sample.object("Sample", [Sample.property("value", Sample.string, default: value)])
        #expect(page(Sample.model([.object(object)])).contains("<span class=\"default\">= \(text)</span>"))
    }

    @Test("the order of files does not change the page S13 S44", arguments: DocsSample.folders)
    func order(_ folder: String) throws {
        let input = try DocsSample.input(folder)
        var random = SeededRandom(seed: 45)
        let expected = try #require(Compiler.page(input, title: "Sample").text)
        let shuffled = SchemaInput(sources: input.sources.shuffled(using: &random))
        #expect(Compiler.page(shuffled, title: "Sample").text == expected)
    }
}
