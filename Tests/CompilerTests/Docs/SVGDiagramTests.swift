import MartletCompiler
import MartletDocs
import MartletSchema
import MartletTools
import ModelTesting
import Testing

@Suite("Docs: SVG diagrams")
struct SVGDiagramTests {
    private func svg(_ model: SchemaModel, _ options: DiagramOptions = DiagramOptions()) throws -> ParsedSVG {
        try ParsedSVG(Diagram.text(of: model, as: .svg, options: options))
    }

    @Test(
        "boxes do not overlap, and no line crosses a box or covers another line S44",
        arguments: DocsSample.folders)
    func readable(_ folder: String) throws {
        let model = try DocsSample.model(folder)
        for properties in DiagramProperties.allCases {
            let picture = try svg(model, DiagramOptions(properties: properties))
            #expect(picture.defects() == [], "\(properties)")
        }
    }

    // In the schema of seed 218, two lines overlap in every order of the tracks, so the layout must move one of them.
    @Test("random schemas are drawn without defects S44", arguments: Array(stride(from: 0, to: 30, by: 3)) + [218])
    func random(_ seed: Int) throws {
        let model = DocsSample.randomModel(
            seed: UInt64(seed), count: 1 + seed % 37, linksPerObject: 1 + seed % 3)
        for properties in DiagramProperties.allCases {
            let picture = try svg(model, DiagramOptions(properties: properties))
            #expect(picture.defects() == [], "\(properties)")
        }
    }

    @Test("the diagram of a schema with more than forty types has a reasonable shape S44")
    func shape() throws {
        let picture = try svg(DocsSample.model("Tests/CompilerTests/Fixtures/Hospital"))
        #expect(picture.boxes.count > 40)
        let ratio = Double(picture.width) / Double(picture.height)
        #expect((0.8...2.5).contains(ratio))
        let filled = picture.boxes.reduce(0) { $0 + $1.width * $1.height }
        // The limit is low, because the channels for the lines take more space than the boxes. A diagram with too much
        // empty space would be below the limit.
        #expect(Double(filled) / Double(picture.width * picture.height) > 0.2)
    }

    @Test("all types, rows and lines are drawn S44", arguments: DocsSample.folders)
    func complete(_ folder: String) throws {
        let model = try DocsSample.model(folder)
        let picture = try svg(model)
        let names = model.files.flatMap(\.declarations).map(\.name)
        #expect(picture.boxes.map(\.name) == names)
        for object in model.objects {
            #expect(picture.box(named: object.name)?.rows == object.properties.map(\.name))
            #expect(picture.box(named: object.name)?.kind == (object.isEmbedded ? "embedded" : "object"))
        }
        for item in model.enums {
            #expect(picture.box(named: item.name)?.rows.first == item.cases[0].name)
        }
        var titles: Set<String> = []
        for object in model.objects {
            for property in object.properties where !property.type.isLinkingObjects {
                if case .scalar = property.type.value { continue }
                titles.insert("\(object.name).\(property.name)")
            }
        }
        titles.formUnion(model.projections.map(\.name))
        #expect(Set(picture.lines.map { String($0.title.prefix { $0 != " " }) }) == titles)
        #expect(picture.lines.count == titles.count)
    }

    @Test("the line of a link ends at its linking objects, and its title says how many targets it has S44")
    func ends() throws {
        let picture = try svg(DocsSample.model("Schemas/Kennel"))
        let owner = try #require(picture.lines.first { $0.title.hasPrefix("Dog.owner ") })
        #expect(owner.title == "Dog.owner links to at most one Person; inverse: Person.dogs")
        let person = try #require(picture.box(named: "Person"))
        let row = try #require(person.rows.firstIndex(of: "dogs"))
        // The head of the box is 36 high. The margins above the first row and below the last row are 3 high.
        let rowHeight = (person.height - 36 - 6) / person.rows.count
        let end = try #require(owner.points.first)
        #expect((end.y - person.y - 36 - 3) / rowHeight == row)
        let titles = picture.lines.map(\.title)
        #expect(titles.contains("Dog.siblings links to a list of Dog"))
        #expect(titles.contains("Person.address embeds at most one Address"))
        #expect(titles.contains("Dog.size has one value of Size"))
        #expect(titles.contains("DogProjection is a projection of Dog"))
        #expect(picture.lines.first { $0.title.hasPrefix("Dog.siblings") }?.classes == "line link many")
    }

    @Test("tooltips contain the documentation S44")
    func tooltips() throws {
        let picture = try svg(DocsSample.model("Schemas/Kennel"))
        #expect(picture.text.contains("Dog: object\nA dog that lives in the kennel."))
        #expect(picture.text.contains("id: ObjectId, primary key"))
        #expect(picture.text.contains("age: Int?, indexed\nYears since it was born, where that is known."))
        #expect(picture.text.contains("story: String?, deprecated\nHow it came to the kennel."))
    }

    @Test("projections can be omitted, and a diagram can be limited to some types and their neighbors S44")
    func parts() throws {
        let model = try DocsSample.model("Schemas/Kennel")
        let names = { (options: DiagramOptions) in try svg(model, options).boxes.map(\.name) }
        #expect(try !names(DiagramOptions(showsProjections: false)).contains { $0.hasSuffix("Projection") })
        #expect(try names(DiagramOptions(types: ["Address"], depth: 0)) == ["Address"])
        #expect(try names(DiagramOptions(types: ["Address"])) == ["Person", "Address"])
        #expect(
            try names(DiagramOptions(types: ["Address"], depth: 2))
                == ["Dog", "Person", "Address", "PersonProjection", "Task"])
        #expect(try names(DiagramOptions(types: ["Size", "Todo"], depth: 1)) == ["Size", "Dog", "Todo", "Task"])
    }

    @Test("boxes can show only links, or no properties S44")
    func properties() throws {
        let model = try DocsSample.model("Schemas/Kennel")
        let links = try svg(model, DiagramOptions(properties: .links))
        #expect(links.box(named: "Dog")?.rows == ["id", "size", "owner", "siblings", "bornIn"])
        #expect(links.box(named: "Person")?.rows == ["address", "friends", "dogs"])
        let none = try svg(model, DiagramOptions(properties: .none))
        #expect(none.boxes.flatMap(\.rows).isEmpty)
        #expect(none.lines.count == links.lines.count)
    }

    @Test("the order of files does not change the diagram S13 S44", arguments: DocsSample.folders)
    func order(_ folder: String) throws {
        let input = try DocsSample.input(folder)
        var random = SeededRandom(seed: 44)
        for format in DiagramFormat.allCases {
            let expected = try #require(Compiler.diagram(input, as: format).text)
            for _ in 0..<3 {
                let shuffled = SchemaInput(sources: input.sources.shuffled(using: &random))
                #expect(Compiler.diagram(shuffled, as: format).text == expected)
            }
        }
    }

    @Test("an empty schema and a schema of one type are drawn S44")
    func small() throws {
        #expect(try svg(Sample.model([])).boxes.isEmpty)
        let single = try svg(Sample.model([.object(Sample.object("Dog", []))]))
        #expect(single.boxes.map(\.name) == ["Dog"])
        #expect(single.defects() == [])
    }

    // An optimized build takes one or two seconds. The test does not check the time, because debug builds are much
    // slower.
    @Test("five hundred types are drawn S44")
    func large() throws {
        let model = DocsSample.randomModel(seed: 2000, count: 500, linksPerObject: 1)
        let picture = try svg(model)
        #expect(picture.boxes.count == 500)
        #expect(picture.lines.count > 250)
    }
}
