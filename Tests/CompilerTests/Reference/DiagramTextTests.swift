import Foundation
import MartletCompiler
import MartletDocs
import MartletSchema
import Testing

@Suite("Reference: diagrams as text")
struct DiagramTextTests {
    private func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Ends well where Graphviz is there and reads the text.
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

    @Test("S44 Mermaid: boxes, members and lines with how many they lead to")
    func mermaid() throws {
        let text = try lines(Diagram.text(of: ReferenceSample.model("Schemas/Kennel"), as: .mermaid))
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

    @Test("S44 Mermaid: a type that is a word of Mermaid gets another identifier")
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

    @Test("S44 Mermaid: no text of a schema becomes a statement", arguments: ReferenceSample.hostile)
    func hostileMermaid(_ hostile: String) {
        let plain = Diagram.text(of: ReferenceSample.hostileModel("plain"), as: .mermaid)
        #expect(Diagram.text(of: ReferenceSample.hostileModel(hostile), as: .mermaid) == plain)
        let named = Diagram.text(of: ReferenceSample.hostileModel("plain", name: hostile), as: .mermaid)
        // With the name gone, what is left is the same.
        #expect(lines(named).count == lines(plain).count)
        for line in lines(named) where line.hasPrefix("T_") {
            #expect(
                line.wholeMatch(of: /\w+ ("[\w*. ]+" )?(-->|\.\.>) ("[\w*. ]+" )?\w+ : \w+/.asciiOnlyWordCharacters())
                    != nil)
        }
    }

    // MARK: DOT

    @Test("S44 DOT: boxes, rows and lines", arguments: ReferenceSample.folders)
    func dot(_ folder: String) throws {
        let model = try ReferenceSample.model(folder)
        let text = Diagram.text(of: model, as: .dot)
        for name in model.files.flatMap(\.declarations).map(\.name) {
            #expect(text.contains("\n  \"\(name)\" ["))
        }
        try expectGraphvizReads(text)
    }

    @Test("S44 DOT: lines go from row to row, and their heads say how many")
    func dotLines() throws {
        let text = try Diagram.text(of: ReferenceSample.model("Schemas/Kennel"), as: .dot)
        #expect(text.contains(#""Dog":r6 -> "Person":r4 [arrowhead="normal", headlabel="0..1""#))
        #expect(text.contains(#""Dog":r7 -> "Dog":head [arrowhead="crow", headlabel="* list""#))
        #expect(text.contains(#""Person":r2 -> "Address":head [dir="both", arrowtail="diamond""#))
        #expect(text.contains("<b><u>id</u></b>"))
    }

    @Test("S44 DOT: no text of a schema becomes a statement", arguments: ReferenceSample.hostile)
    func hostileDOT(_ hostile: String) throws {
        for model in [
            ReferenceSample.hostileModel(hostile), ReferenceSample.hostileModel("plain", name: hostile),
        ] {
            let text = Diagram.text(of: model, as: .dot)
            #expect(
                DOTShape(text).statements
                    == DOTShape(Diagram.text(of: ReferenceSample.hostileModel("plain"), as: .dot)).statements)
            try expectGraphvizReads(text)
        }
    }

    // MARK: SVG

    @Test("S44 SVG: no text of a schema becomes markup", arguments: ReferenceSample.hostile)
    func hostileSVG(_ hostile: String) throws {
        let plain = Diagram.text(of: ReferenceSample.hostileModel("plain"), as: .svg)
        for model in [
            ReferenceSample.hostileModel(hostile), ReferenceSample.hostileModel("plain", name: hostile),
        ] {
            let text = Diagram.text(of: model, as: .svg)
            let picture = try DrawnPicture(text)
            #expect(picture.boxes.count == 3)
            #expect(picture.lines.count == 3)
            #expect(TagShape(text).tags == TagShape(plain).tags)
            #expect(!text.unicodeScalars.contains { TagShape.forbidden.contains($0) })
        }
    }
}

/// What is left of DOT text without what stands in quotes and in HTML-like labels.
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
        // Names and types of rows stand between the tags of labels.
        statements = statements.replacing(/>[^<>]*</, with: "><")
    }
}

/// The tags of markup, without attributes and text.
struct TagShape {
    static let forbidden: Set<Unicode.Scalar> = Set(
        "\u{0}\u{1}\u{1B}\u{7F}\u{85}\u{9B}\u{2028}\u{2029}\u{202E}\u{2066}\u{FFFE}\u{FFFF}".unicodeScalars
    ).subtracting("\u{2028}\u{2029}".unicodeScalars)

    private(set) var tags: [Substring] = []

    init(_ text: String) {
        tags = text.matches(of: /<[\/!?]?[A-Za-z]+/).map(\.output)
    }
}
