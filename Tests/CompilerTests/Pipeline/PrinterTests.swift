import Foundation
import MartletFrontend
import MartletSchema
import MartletTools
import Testing

@Suite("Pipeline: findings as text")
struct PrinterTests {
    private func source(_ text: String) -> SourceText {
        SourceText(file: SourceFileID(0), path: "Schemas/Kennel/Dog.yaml", text: text)
    }

    @Test("the full style shows the line, carets below the token, and the help S11")
    func full() {
        let text =
            "objects:\n  Dog:\n    properties:\n" + String(repeating: "      # note\n", count: 10)
            + "      name: Strng\n"
        let source = source(text)
        let printer = DiagnosticPrinter(sources: [source])
        #expect(
            printer.text(Frontend.analyze([source]).diagnostics) == """
                error[MRT0203]: unknown type 'Strng'
                  --> Schemas/Kennel/Dog.yaml:14:13
                   |
                14 |       name: Strng
                   |             ^^^^^ no type with this name
                help: did you mean 'String'?


                """)
    }

    @Test("the brief style shows one line for each finding and each note S32")
    func brief() {
        let source = source("objects:\n  Dog:\n    properties:\n      a: Int\n      ü: Int\n      a: Int\n")
        let printer = DiagnosticPrinter(sources: [source], style: .brief)
        #expect(
            printer.text(Frontend.analyze([source]).diagnostics) == """
                Schemas/Kennel/Dog.yaml:5:7: error: 'ü' cannot be a property name; names consist of ASCII letters, digits and '_' [MRT0402]
                Schemas/Kennel/Dog.yaml:6:7: error: 'a' occurs more than once in this mapping; rename or remove all but one [MRT0102]
                Schemas/Kennel/Dog.yaml:4:7: note: 'a' occurs here first

                """)
    }

    @Test("the brief style shows the help on the same line S32")
    func briefHelp() {
        let source = source("objects:\n  Dog:\n    properties:\n      a: Strng\n")
        let printer = DiagnosticPrinter(sources: [source], style: .brief)
        #expect(
            printer.text(Frontend.analyze([source]).diagnostics) == """
                Schemas/Kennel/Dog.yaml:4:10: error: unknown type 'Strng'; did you mean 'String'? [MRT0203]

                """)
    }

    @Test("the brief style omits help that the message already contains S32")
    func briefHelpOnce() {
        let source = source("objects:\n  Dog:\n    properties:\n      a: Dog\n")
        let text = DiagnosticPrinter(sources: [source], style: .brief).text(Frontend.analyze([source]).diagnostics)
        #expect(text.components(separatedBy: "write 'Dog?'").count == 2)
    }

    @Test("type names that the database reserves are an error S10 MRT0402")
    func databaseNames() {
        for name in ["Sqlite_x", "Martlet_meta", "SQLITE_Y"] {
            let source = source("objects:\n  \(name):\n    properties:\n      a: Int\n")
            #expect(Frontend.analyze([source]).diagnostics.map(\.code) == [.reservedName])
        }
    }

    @Test("a finding without a location is shown with the name of the tool S32")
    func noPlace() {
        let printer = DiagnosticPrinter(sources: [], style: .brief)
        let text = printer.text(Frontend.analyze([]).diagnostics)
        #expect(text == "martlet: error: no schema found; put a '.yaml' file into the schema folder [MRT0001]\n")
    }

    @Test("carets align after wide characters and tabs, and long lines are shortened S41")
    func odd() {
        let source = source("objects:\n  Dog:\n    properties:\n      a: {doc: \"犬\u{301}\", type:\tStrng}\n")
        let lines = DiagnosticPrinter(sources: [source]).text(Frontend.analyze([source]).diagnostics).split(
            separator: "\n")
        #expect(lines[3] == "4 |       a: {doc: \"犬\u{301}\", type: Strng}")
        #expect(lines[4] == "  |                            ^^^^^ no type with this name")
        let long = self.source(
            "objects:\n  Dog:\n    properties: {" + String(repeating: "a: Int, ", count: 5000) + "b: Strng}\n")
        let text = DiagnosticPrinter(sources: [long]).text(Frontend.analyze([long]).diagnostics)
        #expect(text.split(separator: "\n").allSatisfy { $0.unicodeScalars.count < 300 })
    }

    @Test("the summary counts errors and warnings S40")
    func summary() {
        let error = Diagnostic(.unknownType, "", at: nil)
        let warning = Diagnostic(.noPrimaryKey, "", at: nil)
        #expect(DiagnosticPrinter.summary([]) == nil)
        #expect(DiagnosticPrinter.summary([error]) == "1 error")
        #expect(DiagnosticPrinter.summary([error, warning, error]) == "2 errors and 1 warning")
    }
}
