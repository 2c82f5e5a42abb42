import MartletFrontend
import MartletSchema
import MartletTables
import Testing

@Suite("Rules: notation and meaning")
struct RuleTests {
    static let properties = """
        enums:
          Size: [small, large]
          Country: {raw: String, cases: {norway: "N'O", germany: DE}}
          Level: {raw: Int, cases: {low: 1, high: -2}}
        embedded:
          Place: {properties: {city: String, inner: Place?, level: Level}}
        objects:
          Person: {primaryKey: id, sync: both, properties: {id: String, boss: Person?}}
          Dog:
            primaryKey: id
            sync: both
            properties:
              {id: Int, key: UUID, code: ObjectId, name: String, nick: String?, age: Int8, isGood: Bool, weight: Double,
              price: Decimal128?, size: Size, country: Country?, level: Level, large: String, owner: Person?, place: Place?,
              in: Int, none: Int, born: Date?}

        """

    /// Returns the model of the rule 'read' of 'Dog' with this text. In YAML, the text is in single quotes.
    static func rule(_ text: String) throws -> RuleModel {
        let quoted = text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        let yaml = properties + "    read: '\(quoted)'\n"
        let analysis = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: yaml)])
        let model = try #require(analysis.model, "\(text): \(analysis.diagnostics.map(\.message))")
        return try #require(model.object(named: "Dog")?.sync.rules[.read])
    }

    @Test(
        "a rule is written in one canonical notation S54",
        arguments: [
            ("id=1", "id == 1"), ("1 < id", "id > 1"), ("1 => id", "id <= 1"), ("id <> -1", "id != -1"),
            ("isGood", "isGood == true"), ("!isGood", "NOT isGood == true"), ("NOT NOT isGood", "isGood == true"),
            ("NOT (NOT isGood)", "isGood == true"),
            ("true", "TRUEPREDICATE"), ("FalsePredicate", "FALSEPREDICATE"), ("true == isGood", "isGood == true"),
            ("(id == 1 and (age == 2 && id == 3))", "id == 1 AND age == 2 AND id == 3"),
            ("id == 1 OR age == 2 AND (id == 3 OR age == 4)", "id == 1 OR age == 2 AND (id == 3 OR age == 4)"),
            ("NOT (id == 1 OR age == 2)", "NOT (id == 1 OR age == 2)"), ("NOT (id == 1)", "NOT id == 1"),
            ("name == \"it's\"", "name == 'it\\'s'"),
            ("name == 'a\\n\\u00e6\\ud83d\\ude00\\\\'", "name == 'a\\u000a\\u00e6\\ud83d\\ude00\\\\'"),
            ("name == 'æ'", "name == '\\u00e6'"), ("nick != NULL", "nick != nil"),
            ("size == small", "size == 'small'"), ("small == size", "size == 'small'"),
            ("size == large", "size == 'large'"),
            ("country == norway", "country == 'N\\'O'"), ("country IN {germany, nil}", "country IN {'DE', nil}"),
            ("level == high", "level == -2"), ("level == 1", "level == 1"), ("place.level == low", "place.level == 1"),
            ("owner.id == $user.sub", "owner.id == $user.sub"), ("$user.sub == owner.id", "owner.id == $user.sub"),
            ("owner == nil", "owner == nil"), ("$user.a.b == 'x'", "$user.a.b == 'x'"),
            ("$user.isAdmin", "$user.isAdmin == true"),
            ("'x' IN $user.roles", "'x' IN $user.roles"), ("id IN $user.ids", "id IN $user.ids"),
            ("#in == 1 AND in == 2", "#in == 1 AND #in == 2"), ("none == 1", "#none == 1"),
            ("place.inner.city == 'x'", "place.inner.city == 'x'"), ("name == large", "name == large"),
            ("weight < 1_000.50", "weight < 1000.50"), ("weight < 1e3", "weight < 1E3"),
            ("price >= 5.0", "price >= 5.0"),
            ("key == '00010203-0405-0607-0809-0A0B0C0D0E0F'", "key == uuid(00010203-0405-0607-0809-0a0b0c0d0e0f)"),
            ("code == oid(507F1F77BCF86CD799439011)", "code == oid(507f1f77bcf86cd799439011)"),
            ("born == nil", "born == nil"), ("id IN {}", "id IN {}"), ("name\n  ==\tnick", "name == nick"),
        ])
    func canonical(_ rule: (written: String, text: String)) throws {
        let found = try Self.rule(rule.written).text
        #expect(found == rule.text)
        #expect(try Self.rule(found).text == found, "the canonical text has another meaning")
        #expect(found.utf8.allSatisfy { (0x20...0x7E).contains($0) })
    }

    @Test("moving NOT from AND and OR to the comparisons keeps the meaning of a condition S54")
    func negation() throws {
        let text = "NOT (id == 1 AND (age < 2 OR NOT name IN {'a'}) AND NOT isGood != true)"
        #expect(
            try Self.rule(text).condition.inNegationNormalForm.text
                == "id != 1 OR NOT age < 2 AND name IN {'a'} OR isGood != true")
    }

    @Test("if an operation has no rule, the rule of a more general operation applies S55")
    func fallback() throws {
        let yaml = """
            objects:
              Dog: {primaryKey: id, sync: both, read: id == 1, insert: id == 2, properties: {id: Int}}
              Cat: {primaryKey: id, sync: both, write: id == 3, properties: {id: Int}}

            """
        let model = try #require(
            Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: yaml)]).model)
        let texts = try ["Dog", "Cat"].map { name in
            let sync = try #require(model.object(named: name)).sync
            return RuleKind.allCases.map { sync.rule(for: $0)?.text }
        }
        #expect(texts == [["id == 1", "id == 1", "id == 2", "id == 1"], [nil, "id == 3", "id == 3", "id == 3"]])
    }

    @Test("no text crashes the parser, and each mistake is reported inside the rule S10 S54")
    func mutations() {
        let sample =
            #"NOT (author.id != $user.sub OR name == 'it\'s "x" \u00e6') && size IN {small, 'large', nil, 1.5e3} OR #in=1"#
        var state: UInt64 = 42
        func random(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        let alphabet = Array(" ()!=<>&|{},.$#'\"\\aN1-_\u{e9}".unicodeScalars)
        for _ in 0..<3_000 {
            var scalars = Array(sample.unicodeScalars)
            for _ in 0...random(4) {
                let index = random(scalars.count)
                if random(2) == 0 {
                    scalars.remove(at: index)
                } else {
                    scalars[index] = alphabet[random(alphabet.count)]
                }
            }
            let text = String(String.UnicodeScalarView(scalars))
            let quoted = text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
            let yaml = Self.properties + "    read: '\(quoted)'\n"
            let analysis = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: yaml)])
            #expect((analysis.model == nil) == analysis.diagnostics.contains(where: \.isError))
            for finding in analysis.diagnostics {
                #expect((finding.span?.start ?? 0) >= Self.properties.utf8.count, "\(text): \(finding.message)")
            }
        }
    }
}
