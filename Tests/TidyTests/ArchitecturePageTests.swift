import Testing

@Suite("ARCHITECTURE.md")
struct ArchitecturePageTests {
    @Test("every test suite that ARCHITECTURE.md names exists")
    func namedSuitesExist() throws {
        let page = try #require(Repository.files.first { $0.path == "ARCHITECTURE.md" })
        let suites = Set(Repository.tests.flatMap { TypeDeclaration.all(in: $0).map(\.name) })
        let named = page.text.split { !($0.isLetter || $0.isNumber) }.filter { $0.hasSuffix("Tests") && $0 != "Tests" }
        let targets: Set<String> = [
            "CompilerTests", "EngineTests", "RuntimeTests", "SyncTests", "SyncNetworkTests", "PostgresTests",
            "TidyTests",
        ]
        #expect(Set(named.map(String.init)).subtracting(suites).subtracting(targets).isEmpty)
    }
}
