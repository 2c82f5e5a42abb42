import Testing

/// Limits in lines. In code, blank lines and comments do not count, so that the limits do not discourage documentation.
/// In the README, all lines count.
enum SizeLimits {
    static let file = 450
    static let function = 70
    static let readme = 200
}

@Suite("sizes")
struct SizeTests {
    @Test("no file is longer than 450 lines of code")
    func files() {
        let swift = Repository.swiftFiles.compactMap { Self.fileFinding(path: $0.path, $0.text.withoutComments) }
        // SwiftText can scan C, because its comments are the same as in Swift, and its strings are simpler.
        let c = Repository.files.filter(\.isC).compactMap {
            Self.fileFinding(path: $0.path, SwiftText($0.text).withoutComments)
        }
        expectTidy(swift + c)
    }

    @Test("no function in Sources and Tools is longer than 70 lines of code")
    func functions() {
        expectTidy((Repository.sources + Repository.tools).flatMap(Self.functionFindings))
    }

    @Test("the README is at most 200 lines")
    func readme() throws {
        let readme = try #require(Repository.files.first { $0.path == "README.md" })
        #expect(readme.text.split(separator: "\n", omittingEmptySubsequences: false).count <= SizeLimits.readme)
    }

    private static func isCode(_ line: Substring) -> Bool { line.contains { !$0.isWhitespace } }

    static func fileFinding(path: String, _ text: String) -> Finding? {
        let count = text.split(separator: "\n").count(where: isCode)
        guard count > SizeLimits.file else { return nil }
        return Finding(
            path: path, line: 1, what: "has \(count) lines of code instead of at most \(SizeLimits.file)",
            fix: "split it by topic")
    }

    static func functionFindings(in file: SwiftFile) -> [Finding] {
        let lines = file.text.withoutComments.split(separator: "\n", omittingEmptySubsequences: false)
        return FunctionBody.all(in: file).compactMap { body in
            let count = lines[(body.firstLine - 1)..<body.lastLine].count(where: isCode)
            guard count > SizeLimits.function else { return nil }
            return Finding(
                path: file.path, line: body.firstLine,
                what: "'\(body.name)' has \(count) lines of code instead of at most \(SizeLimits.function)",
                fix: "keep only the branching here, and move the code of the branches to other functions")
        }
    }
}

/// The lines of a function, from `func`, `init` or `subscript` to its closing brace.
struct FunctionBody: Equatable {
    let name: String
    let firstLine: Int
    let lastLine: Int

    static func all(in file: SwiftFile) -> [FunctionBody] {
        let tokens = file.tokens
        return tokens.indices.compactMap { index in
            guard let name = functionName(at: index, in: tokens),
                let open = openingBrace(after: index + 1, in: tokens),
                let close = closingBrace(of: open, in: tokens)
            else { return nil }
            return FunctionBody(name: name, firstLine: tokens[index].line, lastLine: tokens[close].line)
        }
    }

    private static func functionName(at index: Int, in tokens: [Token]) -> String? {
        guard index + 1 < tokens.count else { return nil }
        let isMember = index > 0 && tokens[index - 1].text == "."
        switch tokens[index].text {
        case "func": return String(tokens[index + 1].text)
        case "init" where !isMember: return ["(", "<", "?"].contains(tokens[index + 1].text) ? "init" : nil
        case "subscript" where !isMember: return "subscript"
        default: return nil
        }
    }

    /// Returns the index of the opening brace of the body, or nil for a requirement of a protocol, which has no body.
    private static func openingBrace(after start: Int, in tokens: [Token]) -> Int? {
        let next: Set<Substring> = ["func", "var", "let", "init", "case", "subscript", "struct", "class", "enum", "}"]
        var depth = 0
        for index in start..<tokens.count {
            switch tokens[index].text {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case "{" where depth == 0: return index
            case let text where depth == 0 && next.contains(text): return nil
            default: break
            }
        }
        return nil
    }

    private static func closingBrace(of open: Int, in tokens: [Token]) -> Int? {
        var depth = 0
        for index in open..<tokens.count {
            if tokens[index].text == "{" { depth += 1 }
            if tokens[index].text == "}" { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }
}
