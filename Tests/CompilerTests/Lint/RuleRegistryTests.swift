import Foundation
import MartletLint
import MartletSchema
import Testing

@Suite("Lint: registry")
struct RuleRegistryTests {
    @Test("each rule has its own file, test file and requirement S50 S41")
    func rules() throws {
        let names = RuleRegistry.rules.map { String(describing: type(of: $0)) }
        let folder = Repository.root.appending(path: "Sources/MartletLint/Rules")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.map { "\($0).swift" }.sorted() == files.sorted())
        for name in names {
            let test = Repository.root.appending(path: "Tests/CompilerTests/Lint/\(name)Tests.swift")
            #expect(FileManager.default.fileExists(atPath: test.path), "\(name)")
        }
        #expect(Set(RuleRegistry.rules.map(\.requirement)).count == names.count)
        #expect(Set(RuleRegistry.rules.map(\.code)).count == names.count)
    }

    @Test("the codes of all rules can be silenced S50 S41")
    func codes() {
        #expect(RuleRegistry.rules.allSatisfy { $0.code.canBeSilenced })
        #expect(!DiagnosticCode.unknownType.canBeSilenced)
    }
}
