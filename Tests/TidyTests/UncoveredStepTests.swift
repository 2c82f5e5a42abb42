import Foundation
import Testing

@Suite("steps of 'make test'")
struct UncoveredStepTests {
    /// The steps that `swift test` also runs.
    private static let covered: Set = ["build with tests", "tests"]

    @Test("'swift test' prints the names of the checks that only 'make test' runs")
    func uncovered() throws {
        let script = try String(contentsOf: Repository.root.appending(path: "Scripts/test"), encoding: .utf8)
        let names = script.split(separator: "\n").compactMap { line -> String? in
            let line = line.drop { $0 == " " }
            // This step only waits for other steps.
            guard line.hasPrefix("step \""), !line.hasSuffix("await_examples") else { return nil }
            return line.dropFirst(6).split(separator: "\"").first.map(String.init)
        }
        #expect(Self.covered.isSubset(of: names))
        let uncovered = names.filter { !Self.covered.contains($0) }
        #expect(uncovered.contains("plugins"))
        print("'swift test' does not check: \(uncovered.joined(separator: "; ")). 'make test' does.")
    }
}
