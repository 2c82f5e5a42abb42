import MartletFrontend
import MartletLint
import MartletSchema
import Testing

@Suite("Lint: rules")
struct LintTests {
    /// The findings of one rule, as `line:column message`.
    private func lint(
        _ text: String, _ code: DiagnosticCode, preset: LintConfiguration.Preset = .strict
    ) -> [String] {
        let source = SourceText(file: SourceFileID(0), path: "A.yaml", text: text)
        let result = Frontend.analyze([source])
        guard let model = result.model else { return result.diagnostics.map(\.message) }
        let findings = Linter.lint(model, sources: [source], configuration: LintConfiguration(preset: preset))
        return findings.filter { $0.code == code }.map { finding in
            let place = source.position(at: finding.span?.start ?? 0)
            return "\(place.line):\(place.column) \(finding.message)"
        }
    }

    @Test("MRT0304 an embedded object that nothing holds")
    func unusedEmbedded() {
        let text = """
            objects:
              Dog:
                properties: {a: Used?}
            embedded:
              Used:
                properties: {a: Int}
              Unused:
                properties: {a: Unused?}

            """
        #expect(lint(text, .embedding) == ["7:3 no property holds the embedded object 'Unused'; use it or remove it"])
    }

    @Test("MRT0305 indexes that cannot be or are there already")
    func uselessIndexes() {
        let text = """
            objects:
              Dog:
                primaryKey: id
                index: [id, name, name, data, owner, tags]
                properties:
                  id: Int
                  name: String
                  data: Data
                  owner: Dog?
                  tags: List<Int>
                  age: {type: Int, fullText: true}

            """
        #expect(
            lint(text, .badIndex) == [
                "4:13 'id' is the primary key, which has an index; remove it",
                "4:23 'name' is listed twice; remove one",
                "4:29 no index on 'data'; 'Data' cannot have an index, so remove it",
                "4:35 no index on 'owner'; links are indexed without being listed, so remove it",
                "4:42 no index on 'tags'; 'List<Int>' cannot have an index, so remove it",
                "11:24 full text is for 'String', and 'age' is 'Int'; remove it",
            ])
    }

    @Test("MRT0401 names as Swift writes them")
    func names() {
        let text = """
            enums:
              size: [Small, very_large, fine]
            objects:
              big_dog:
                properties: {First_name: String, fine: size, HTTPName: String}

            """
        #expect(
            lint(text, .namingCase) == [
                "2:3 type 'size' is not UpperCamelCase; write 'Size'",
                "2:10 case 'Small' is not lowerCamelCase; write 'small'",
                "2:17 case 'very_large' is not lowerCamelCase; write 'veryLarge'",
                "4:3 type 'big_dog' is not UpperCamelCase; write 'BigDog'",
                "5:18 property 'First_name' is not lowerCamelCase; write 'firstName'",
                "5:50 property 'HTTPName' is not lowerCamelCase; write 'httpName'",
            ])
    }

    @Test("MRT0403 plural collections, singular links and types")
    func plurality() {
        let text = """
            objects:
              Dogs:
                properties:
                  friend: List<Dogs>
                  owners: Dogs?
                  address: Dogs?
                  children: List<Dogs>
                  bonus: Dogs?
                  weight: Map<Double>

            """
        #expect(
            lint(text, .plurality) == [
                "2:3 type 'Dogs' is plural; name one of them",
                "4:7 collection 'friend' is singular; name it in the plural",
                "5:7 link 'owners' is plural and leads to one object; name it in the singular",
            ])
        #expect(lint(text, .plurality, preset: .standard) == [])
    }

    @Test("MRT0501 MRT0003 a missing primary key, and comments that silence it")
    func primaryKeys() {
        let text = """
            objects:
              # martlet:ignore MRT0501
              ## Documented.
              Dog:
                properties: {a: Int}
              Cat:
                properties: {a: Int}
              # martlet:ignore MRT0501, MRT0504
              Bird:
                primaryKey: a
                properties: {a: Int}

            """
        #expect(lint(text, .noPrimaryKey).map { $0.prefix(10) } == ["6:3 'Cat' "])
        #expect(lint(text, .uselessIgnore) == ["8:20 'martlet:ignore MRT0501' silences nothing; remove it"])
    }

    @Test("MRT0502 indexes of little use")
    func indexCost() {
        let names = (1...9).map { "a\($0)" }
        let text = """
            enums:
              Two: [a, b]
            objects:
              Dog:
                index: [flag, two]
                properties: {flag: Bool, two: Two}
              Cat:
                index: [\(names.joined(separator: ", "))]
                properties: {\(names.map { "\($0): Int" }.joined(separator: ", "))}

            """
        #expect(
            lint(text, .indexCost) == [
                "5:13 'flag' has only 2 values, so an index finds little; remove it",
                "5:19 'two' has only 2 values, so an index finds little; remove it",
                "7:3 'Cat' has 9 indexes; more than 8 make writes slow, so drop some",
            ])
    }

    @Test("MRT0503 too many properties, and paths too long")
    func tooWide() {
        let properties = (1...101).map { "a\($0): Int" }.joined(separator: ", ")
        let text = """
            objects:
              Dog:
                properties: {\(properties), next: Dog?}
            projections:
              P:
                of: Dog
                properties: {a: next.next.next.a1, b: next.next.next.next.a1}

            """
        #expect(
            lint(text, .tooWide) == [
                "2:3 'Dog' has 102 properties; split off embedded objects",
                "7:43 this key path has 5 segments; project a nearer object",
            ])
    }

    @Test("MRT0504 documentation that is missing or says nothing")
    func documentation() {
        let text = """
            objects:
              ## The big dog.
              BigDog:
                properties: {a: Int}
              Cat:
                properties: {a: Int}
              ## A bird that sings.
              Bird:
                properties: {a: Int}

            """
        #expect(
            lint(text, .missingDocumentation) == [
                "3:3 the documentation of 'BigDog' repeats its name; say what it is for",
                "5:3 'Cat' has no documentation; write a '##' line above it",
            ])
    }

    @Test("MRT0505 enums that nothing uses, and cascades in a circle")
    func unreachable() {
        let text = """
            enums:
              Used: [a]
              Unused: [a]
            objects:
              Dog:
                properties: {a: Used, cat: {type: Cat?, onDelete: cascade}}
              Cat:
                properties: {dog: {type: Dog?, onDelete: cascade}}
              Bird:
                properties: {dog: {type: Dog?, onDelete: cascade}}

            """
        #expect(
            lint(text, .unreachable) == [
                "3:3 no property uses the enum 'Unused'; use it or remove it",
                "6:27 deleting cascades in a circle, through Dog.cat and Cat.dog; break it with 'nullify'",
            ])
    }

    @Test("MRT0602 renames that cannot be")
    func renames() {
        let text = """
            objects:
              Dog:
                renamedFrom: Cat
                properties:
                  a: {type: Int, renamedFrom: b}
                  b: {type: Int, renamedFrom: b}
                  c: {type: Int, renamedFrom: z}
                  d: {type: Int, renamedFrom: z}
              Cat:
                properties: {a: Int}

            """
        #expect(
            lint(text, .staleRename).map { $0.prefix(4) } == ["3:18", "5:35", "6:35", "8:35"])
    }

    @Test("MRT0603 deprecations without a word, and deprecated things in use")
    func deprecations() {
        let text = """
            objects:
              Dog:
                index: [old]
                properties:
                  old: {type: Int, deprecated: true}
                  fine: {type: Int, deprecated: Use b.}
                  next: Dog?
                keypaths:
                  a: [next.fine]

            """
        #expect(
            lint(text, .deprecation) == [
                "3:13 an index on 'old', which is deprecated; remove it",
                "5:24 'old' is deprecated without a word; say what to use instead",
                "9:16 'fine' is deprecated and still used here; use what replaces it",
            ])
    }

    @Test("MRT0003 directives that say nothing")
    func directives() {
        let source = SourceText(
            file: SourceFileID(0), path: "A.yaml",
            text:
                "# martlet:ignor MRT0501\n# martlet:ignore\n# martlet:ignore MRT9\nobjects:\n  Dog:\n    properties: {a: Int}\n"
        )
        let findings = Frontend.analyze([source]).diagnostics
        #expect(findings.map(\.code) == [.uselessIgnore, .uselessIgnore, .uselessIgnore])
        #expect(findings.allSatisfy { !$0.isError })
    }
}
