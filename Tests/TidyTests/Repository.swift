import Foundation
import Testing

/// A file of the repository.
struct RepositoryFile {
    /// The path relative to the root of the repository, with `/` as the separator.
    let path: String
    let text: String

    var isSwift: Bool { path.hasSuffix(".swift") }
    var isC: Bool { path.hasSuffix(".c") || path.hasSuffix(".h") }

    func isUnder(_ folder: String) -> Bool { path.hasPrefix(folder + "/") }

    /// The name of the file up to its first dot, such as `Foo` for `Sources/Module/Layer/Foo.swift`.
    var stem: String { String(path.split(separator: "/").last?.split(separator: ".").first ?? "") }

    /// The second part of the path, such as `Module` for `Sources/Module/…` and `Kennel` for `Generated/Kennel/…`.
    var module: String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 ? String(parts[1]) : nil
    }
}

/// A Swift file with its tokens.
struct SwiftFile {
    let file: RepositoryFile
    let text: SwiftText
    let tokens: [Token]

    var path: String { file.path }

    init(_ file: RepositoryFile) {
        self.file = file
        text = SwiftText(file.text)
        tokens = SwiftText.tokens(of: text.code)
    }

    init(path: String, _ text: String) {
        self.init(RepositoryFile(path: path, text: text))
    }
}

/// The files that the tidy tests check, read once.
enum Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let files: [RepositoryFile] = {
        let folders = [
            "Sources", "Plugins", "Tests", "Examples", "Benchmarks", "Tools", "Generated", "Documentation", "Scripts",
        ]
        let rootFiles = ["Package.swift", "Makefile", "README.md", "ARCHITECTURE.md"]
        return rootFiles.compactMap(read) + folders.flatMap { paths(under: $0).compactMap(read) }
    }()

    /// The Swift files except generated files and fixtures.
    static let swiftFiles: [SwiftFile] =
        files
        .filter { file in
            file.isSwift && !file.isUnder("Generated") && !file.path.hasSuffix(".martlet.swift")
                && !file.path.contains("/Fixtures/")
        }
        .map { SwiftFile($0) }

    static let sources = swiftFiles.filter { $0.file.isUnder("Sources") }
    /// Sources of the packages under `Tools`. Some tests skip them: those of imports, layers, file access and cited
    /// rule ids.
    static let tools = swiftFiles.filter { $0.file.isUnder("Tools") && $0.path.contains("/Sources/") }
    static let tests = swiftFiles.filter {
        $0.file.isUnder("Tests") || $0.file.isUnder("Tools") && $0.path.contains("/Tests/")
    }

    private static func read(_ path: String) -> RepositoryFile? {
        guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else { return nil }
        return RepositoryFile(path: path, text: text)
    }

    /// The paths of sources, scripts and pages, without build folders and hidden files.
    private static func paths(under folder: String) -> [String] {
        let endings = [".swift", ".c", ".h", ".md", ".sh", ".py", ".yaml", ".yml"]
        guard let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path) else { return [] }
        var paths: [String] = []
        for case let path as String in names {
            let isHidden = path.split(separator: "/").last?.hasPrefix(".") ?? false
            if isHidden { names.skipDescendants() }
            if !isHidden, endings.contains(where: path.hasSuffix) { paths.append("\(folder)/\(path)") }
        }
        return paths.sorted()
    }
}

/// A violation of a tidy rule: the place, the problem, and the fix.
struct Finding: Equatable {
    var path: String
    var line: Int
    var what: String
    var fix: String
}

/// Records an issue for each finding, at the place of the finding.
func expectTidy(_ findings: [Finding]) {
    for finding in findings {
        Issue.record(
            "\(finding.path):\(finding.line): \(finding.what); \(finding.fix)",
            sourceLocation: SourceLocation(
                fileID: "Martlet/\(finding.path)", filePath: Repository.root.appending(path: finding.path).path,
                line: max(finding.line, 1), column: 1))
    }
}
