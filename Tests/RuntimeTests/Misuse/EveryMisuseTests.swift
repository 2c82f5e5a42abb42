import Foundation
import Testing

/// Checks that the list of misuses is complete, that each misuse stops the program with its message, and that the page
/// `Documentation/Misuse.md` is current.
@Suite("every misuse") struct EveryMisuseTests {
    @Test("a misuse stops the program with its message O67", arguments: MisuseCases.all.indices)
    func message(_ index: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [index = index as Int] in
            try MisuseCases.all[index].trigger()
        }
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let misuse = MisuseCases.all[index]
        #expect(misuse.appears(in: output), "\(misuse.name) says: \(output.prefix(500))")
    }

    @Test("the list contains every trap of the library, and no other trap O67") func completeness() throws {
        let traps = try Self.traps()
        #expect(traps.count > 40)
        #expect(traps.subtracting(MisuseCases.all.map(\.name)) == [], "add a 'MisuseCase' for it in this folder")
        #expect(Set(MisuseCases.all.map(\.name)).subtracting(traps) == [])
    }

    @Test("no two traps have the same message O67") func distinctMessages() {
        let messages = Dictionary(grouping: MisuseCases.all, by: \.message)
        #expect(messages.filter { $0.value.count > 1 }.keys.sorted() == [])
    }

    @Test("messages begin in lower case or with a name, and end without a full stop O67") func style() {
        for misuse in MisuseCases.all {
            let message = misuse.message
            let first = message.prefix { $0 != "\n" }
            #expect(!message.hasSuffix(".") && !first.hasSuffix(".") && !first.contains("  "), "\(message)")
            #expect(message.first.map { $0.isLowercase || "'…".contains($0) } == true, "\(message)")
        }
    }

    @Test("Documentation/Misuse.md equals the page generated from the list, byte for byte O67") func page() throws {
        let url = Self.root.appending(path: "Documentation/Misuse.md")
        if ProcessInfo.processInfo.environment["MARTLET_RECORD"] != nil {
            try Data(MisusePage.text.utf8).write(to: url)
        }
        let isCurrent = try Data(contentsOf: url) == Data(MisusePage.text.utf8)
        #expect(isCurrent, "generate it again: MARTLET_RECORD=1 swift test --filter EveryMisuse")
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Returns the names of the functions of `Misuse`, from its source files.
    private static func traps() throws -> Set<String> {
        let folder = root.appending(path: "Sources/Martlet/Misuse")
        var names: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for match in text.matches(of: /static func (\w+)\(/) { names.insert(String(match.1)) }
        }
        return names.subtracting(["trap"])
    }
}

/// The text of `Documentation/Misuse.md`, generated from the list.
enum MisusePage {
    static var text: String {
        var lines = [
            "# Misuse",
            "",
            "A misuse of the API stops the program with a message. The message says what was done, to what, and how to fix it. It",
            "ends with a name in brackets, under which this page lists it. Failures at run time, such as a full disk, are thrown as",
            "`Realm.Error` instead. `…` stands for text that varies. This page is generated from `Tests/RuntimeTests/Misuse`.",
        ]
        for section in MisuseCases.sections {
            lines += ["", "## \(section.title)", "", section.text]
            var last = ""
            for misuse in section.members {
                lines += misuse.name == last ? [""] : ["", "### \(misuse.name)", ""]
                lines += ["```", misuse.message, "```"]
                last = misuse.name
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
