import Foundation
import MartletDocs
import MartletSchema
import Testing

@Suite("Docs: diagrams as text")
struct DiagramTextTests {
    private func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Checks that Graphviz can read the text, if Graphviz is installed.
    private func expectGraphvizReads(_ text: String) throws {
        guard let dot = ["/usr/bin/dot", "/opt/homebrew/bin/dot"].first(where: FileManager.default.isExecutableFile)
        else { return }
        let folder = try TemporaryFolder()
        try folder.write(text, to: "graph.dot")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: dot)
        process.arguments = ["-Tplain", folder.path + "/graph.dot", "-o", folder.path + "/plain"]
        try folder.write("", to: "errors")
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path + "/errors"))
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try folder.read("errors").split(separator: "\n").filter { $0.contains("rror") } == [])
    }

    // MARK: Mermaid

    @Test("Mermaid: types, members, and relations with their cardinality are drawn S44")
    func mermaid() throws {
        let text = try lines(Diagram.text(of: DocsSample.model("Schemas/Kennel"), as: .mermaid))
        #expect(text.first == "classDiagram")
        for line in [
            "class Dog {", "ObjectId id PK", "List~Dog~ siblings", "LinkingObjects~Dog.owner~ dogs", "<<enumeration>>",
            "<<embedded>>", "<<projection>>", "homeCity = address.city", #"Dog "*" --> "0..1" Person : owner / dogs"#,
            #"Dog "*" --> "* list" Dog : siblings"#, #"Person *-- "0..1" Address : address"#, "Dog ..> Size : size",
            "DogProjection ..> Dog : of",
        ] {
            #expect(text.contains(line), "\(line)")
        }
    }

    @Test("Mermaid: a type named like a keyword of Mermaid gets another identifier S44")
    func words() {
        let names = ["note", "class", "T_class", "Namespace"]
        let model = Sample.model(
            names.map { .object(Sample.object($0, [Sample.property("next", Sample.link("class"))])) })
        let text = lines(Diagram.text(of: model, as: .mermaid))
        #expect(text.contains(#"class T_note["note"] {"#))
        #expect(text.contains(#"class T_T_class["class"] {"#))
        #expect(text.contains("class T_class {"))
        #expect(text.contains("class Namespace {"))
        #expect(text.contains(#"T_note "*" --> "0..1" T_T_class : next"#))
        #expect(text.contains(#"T_class "*" --> "0..1" T_T_class : next"#))
    }

    @Test("Mermaid: no schema text becomes a statement S44", arguments: DocsSample.hostile)
    func hostileMermaid(_ hostile: String) {
        let plain = Diagram.text(of: DocsSample.hostileModel("plain"), as: .mermaid)
        #expect(Diagram.text(of: DocsSample.hostileModel(hostile), as: .mermaid) == plain)
        let named = Diagram.text(of: DocsSample.hostileModel("plain", name: hostile), as: .mermaid)
        // The hostile name adds no line, and every relation still has the form of a relation.
        #expect(lines(named).count == lines(plain).count)
        for line in lines(named) where line.hasPrefix("T_") {
            #expect(
                line.wholeMatch(of: /\w+ ("[\w*. ]+" )?(-->|\.\.>) ("[\w*. ]+" )?\w+ : \w+/.asciiOnlyWordCharacters())
                    != nil)
        }
    }

    // MARK: DOT

    @Test("DOT: all types are drawn, and Graphviz reads the text S44", arguments: DocsSample.folders)
    func dot(_ folder: String) throws {
        let model = try DocsSample.model(folder)
        let text = Diagram.text(of: model, as: .dot)
        for name in model.files.flatMap(\.declarations).map(\.name) {
            #expect(text.contains("\n  \"\(name)\" ["))
        }
        try expectGraphvizReads(text)
    }

    @Test("DOT: lines connect rows, and the ends of the lines show the cardinality S44")
    func dotLines() throws {
        let text = try Diagram.text(of: DocsSample.model("Schemas/Kennel"), as: .dot)
        #expect(text.contains(#""Dog":r6 -> "Person":r4 [arrowhead="normal", headlabel="0..1""#))
        #expect(text.contains(#""Dog":r7 -> "Dog":head [arrowhead="crow", headlabel="* list""#))
        #expect(text.contains(#""Person":r2 -> "Address":head [dir="both", arrowtail="diamond""#))
        #expect(text.contains("<b><u>id</u></b>"))
    }

    @Test("DOT: no schema text becomes a statement S44", arguments: DocsSample.hostile)
    func hostileDOT(_ hostile: String) throws {
        for model in [
            DocsSample.hostileModel(hostile), DocsSample.hostileModel("plain", name: hostile),
        ] {
            let text = Diagram.text(of: model, as: .dot)
            #expect(
                DOTShape(text).statements
                    == DOTShape(Diagram.text(of: DocsSample.hostileModel("plain"), as: .dot)).statements)
            try expectGraphvizReads(text)
        }
    }

    // MARK: SVG

    @Test("SVG: no schema text becomes markup S44", arguments: DocsSample.hostile)
    func hostileSVG(_ hostile: String) throws {
        let plain = Diagram.text(of: DocsSample.hostileModel("plain"), as: .svg)
        for model in [
            DocsSample.hostileModel(hostile), DocsSample.hostileModel("plain", name: hostile),
        ] {
            let text = Diagram.text(of: model, as: .svg)
            let picture = try ParsedSVG(text)
            #expect(picture.boxes.count == 3)
            #expect(picture.lines.count == 3)
            #expect(TagShape(text).tags == TagShape(plain).tags)
            #expect(!text.unicodeScalars.contains { TagShape.forbidden.contains($0) })
        }
    }
}

/// The text of a DOT graph, without quoted text and without the text in HTML-like labels.
struct DOTShape {
    private(set) var statements = ""

    init(_ text: String) {
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if isQuoted {
                if !isEscaped, character == "\"" { isQuoted = false }
                isEscaped = character == "\\" && !isEscaped
                continue
            }
            if character == "\"" { isQuoted = true }
            statements.append(character)
        }
        // The names and types of rows are the text between the tags of HTML-like labels.
        statements = statements.replacing(/>[^<>]*</, with: "><")
    }
}

/// The tags of markup, without attributes and text.
struct TagShape {
    /// Characters that no output may contain. U+2028 and U+2029 are allowed.
    static let forbidden: Set<Unicode.Scalar> = Set(
        "\u{0}\u{1}\u{1B}\u{7F}\u{85}\u{9B}\u{202E}\u{2066}\u{FFFE}\u{FFFF}".unicodeScalars)

    private(set) var tags: [Substring] = []

    init(_ text: String) {
        tags = text.matches(of: /<[\/!?]?[A-Za-z]+/).map(\.output)
    }
}
