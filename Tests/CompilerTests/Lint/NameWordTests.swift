import Testing

@testable import MartletLint

@Suite struct NameWordTests {
    @Test(
        "names are split at underscores and capitals, and acronyms stay whole",
        arguments: [
            ("homeCity", ["home", "city"]), ("aB", ["a", "b"]), ("HTTPServer", ["http", "server"]), ("URLs", ["urls"]),
            ("snake_case", ["snake", "case"]), ("A", ["a"]), ("_", []),
        ])
    func split(_ name: String, _ words: [String]) { #expect(NameWords.split(name) == words) }
}
