import Foundation
import MartletCompiler
import MartletSchema
import MartletTools
import Testing

@Suite("Reports: SARIF")
struct SARIFTests {
    private func document(_ report: Report = ReportSamples.report()) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(report.text(as: .sarif).utf8))
    }

    @Test("a report conforms to SARIF 2.1.0 S41")
    func shape() throws {
        #expect(SARIFShape.log.problems(of: try document()) == [])
        #expect(SARIFShape.log.problems(of: try document(Report())) == [])
    }

    @Test("the conformance check finds violations S41")
    func shapeCheck() throws {
        let text = ReportSamples.report().text(as: .sarif)
        let replacements: [(String, String)] = [
            ("\"startLine\": 5,", "\"startLine\": 0,"), ("\"uri\": \"Schemas/", "\"uri\": \"Schemas </"),
            ("\"version\": \"2.1.0\"", "\"version\": \"2.0.0\""), ("\"level\": \"note\"", "\"level\": \"info\""),
            ("\"ruleId\"", "\"rule\""), ("\"driver\"", "\"engine\""), ("\"endLine\": 5,", "\"endLine\": \"5\","),
        ]
        for (valid, violation) in replacements {
            let invalid = text.replacing(valid, with: violation)
            #expect(invalid != text, "\(valid)")
            let value = try JSONSerialization.jsonObject(with: Data(invalid.utf8))
            #expect(!SARIFShape.log.problems(of: value).isEmpty, "\(violation)")
        }
    }

    @Test("every result refers to its rule, and regions select the exact token S41")
    func results() throws {
        let run = JSONQuery(value: try document())["runs"][0]
        let rules = run["tool"]["driver"]["rules"]
        #expect(
            rules.array?.compactMap { JSONQuery(value: $0)["id"].string } == DiagnosticCode.allCases.map(\.rawValue))
        let results = try #require(run["results"].array).map { JSONQuery(value: $0) }
        #expect(results.count > 8)
        for result in results {
            let index = try #require(result["ruleIndex"].integer)
            #expect(rules[index]["id"].string == result["ruleId"].string)
        }
        let unknown = run["results"].first(where: "ruleId", is: "MRT0203")
        #expect(token(unknown["locations"][0]["physicalLocation"]["region"]) == "Strng")
        let fix = unknown["fixes"][0]["artifactChanges"][0]["replacements"][0]
        #expect(token(fix["deletedRegion"]) == "Strng")
        #expect(fix["insertedContent"]["text"].string == "String")
        let twice = run["results"].first(where: "ruleId", is: "MRT0102")
        #expect(token(twice["relatedLocations"][0]["physicalLocation"]["region"]) == "first")
        #expect(twice["relatedLocations"][0]["message"]["text"].string == "'first' occurs here first")
    }

    @Test("a rule contains its explanation and its severity S41")
    func rules() throws {
        let rules = JSONQuery(value: try document())["runs"][0]["tool"]["driver"]["rules"]
        let rule = rules.first(where: "id", is: "MRT0502")
        #expect(rule["name"].string == "IndexCost")
        #expect(rule["shortDescription"]["text"].string == "an index with little benefit, or too many indexes")
        #expect(rule["fullDescription"]["text"].string == DiagnosticCode.indexCost.explanation.problem)
        #expect(rule["help"]["text"].string?.contains("\n\nWrong:\n\n    objects:\n") == true)
        #expect(rule["help"]["markdown"].string?.contains("\n\n```yaml\nobjects:\n") == true)
        #expect(rule["defaultConfiguration"]["level"].string == "note")
        // In SARIF messages, a brace begins a placeholder, so the braces of examples are doubled.
        let text = try #require(rules.first(where: "id", is: "MRT0603")["help"]["text"].string)
        #expect(text.contains("age: {{type: Int, deprecated: true}}\n"))
    }

    @Test("paths are relative to a base folder, and the report does not contain the path of this folder S41")
    func paths() throws {
        let run = JSONQuery(value: try document())["runs"][0]
        let bases = try #require(run["originalUriBaseIds"].object)
        #expect(bases.keys.sorted() == ["%SRCROOT%"])
        #expect(run["originalUriBaseIds"]["%SRCROOT%"]["uri"].string == nil)
        for result in try #require(run["results"].array) {
            let artifact = JSONQuery(value: result)["locations"][0]["physicalLocation"]["artifactLocation"]
            #expect(artifact["uriBaseId"].string == "%SRCROOT%")
            #expect(artifact["uri"].string?.hasPrefix("Schemas/") == true)
        }
        var outside = Report(pathsFrom: "/home/author")
        let source = ReportSamples.source(ReportSamples.linesWithUnusualCharacters, "/elsewhere/ä.yaml")
        ReportSamples.add(SchemaInput(sources: [source]), named: "/elsewhere", to: &outside)
        let artifact = JSONQuery(value: try document(outside))["runs"][0]["results"][0]["locations"][0][
            "physicalLocation"]["artifactLocation"]
        #expect(artifact["uri"].string == "file:///elsewhere/%C3%A4.yaml")
        #expect(artifact["uriBaseId"].string == nil)
    }

    /// Returns the text of a region as a SARIF reader computes it. The line does not contain the byte-order mark, and
    /// columns are counted in UTF-16 code units.
    private func token(_ region: JSONQuery) -> String? {
        guard let line = region["startLine"].integer, region["endLine"].integer == line,
            let start = region["startColumn"].integer, let end = region["endColumn"].integer
        else { return nil }
        let units = Array(ReportSamples.linesWithUnusualCharacters[line - 1].utf16)
        return String(decoding: units[(start - 1)..<(end - 1)], as: UTF16.self)
    }
}
