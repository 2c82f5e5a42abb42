import Testing

/// The layers of a module: its folders, from the lowest to the highest. A file uses its own layer and the layers below
/// it.
enum Layers {
    static let ofModule: [String: [String]] = [
        "MartletEngine": [
            "Environment", "Keys", "Schema", "Changes", "Storage", "Query", "Columns", "Transactions", "Diffing",
            "Migration",
            "Coordination", "Rows", "Deletion", "Sync",
        ],
        "MartletSyncProtocol": ["Values", "Queries", "Messages"],
        "MartletSync": ["Session", "File", "Client", "Network", "Public"],
        "MartletPostgres": ["Values", "Connection"],
        "MartletSyncService": [
            "Schema", "SQL", "Rules", "Matching", "Feed", "Session", "Tokens", "Database", "Connection", "Network",
        ],
        "MartletSyncTool": ["Configuration", "Commands", "Program"],
        "MartletTables": ["Model", "Text"],
        "MartletDocs": ["Text", "Layout", "Diagram", "Pages"],
        "MartletCompiler": ["Pipeline", "Report", "Disk"],
        "MartletTools": [
            "Explanations", "Format", "Checks", "FixIts", "Report", "EditorSchema", "Starter", "Disk", "Git",
        ],
        "Martlet": [
            "Misuse", "Values", "Context", "Objects", "Query", "Collections", "Migration", "Observation",
            "Projections", "Realm",
        ],
    ]

    /// Allowed uses of a higher layer, with the reason. This list should be empty.
    static let exceptions: [Exception] = []

    struct Exception {
        /// The file that uses a higher layer.
        let path: String
        /// The type of the higher layer.
        let type: String
        let reason: String
    }
}

/// A type that a file declares.
struct TypeDeclaration: Equatable {
    let name: String
    let line: Int

    private static let keywords: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]

    /// Returns the types at the top level that are not private to the file.
    static func visible(in file: SwiftFile) -> [TypeDeclaration] {
        declarations(in: file).filter { $0.depth == 0 && !$0.isFilePrivate }.map(\.declaration)
    }

    /// Returns the types at any depth.
    static func all(in file: SwiftFile) -> [TypeDeclaration] {
        declarations(in: file).map(\.declaration)
    }

    private struct Found {
        let declaration: TypeDeclaration
        let depth: Int
        let isFilePrivate: Bool
    }

    private static func declarations(in file: SwiftFile) -> [Found] {
        var found: [Found] = []
        var depth = 0
        var lineIsPrivate = false
        let tokens = file.tokens
        for index in tokens.indices {
            let token = tokens[index]
            if token.startsLine { lineIsPrivate = false }
            switch token.text {
            case "{": depth += 1
            case "}": depth -= 1
            case "private", "fileprivate": lineIsPrivate = true
            case let keyword where keywords.contains(keyword):
                let follows = index + 1 < tokens.count ? tokens[index + 1] : nil
                let isMember = index > 0 && tokens[index - 1].text == "."
                // `class func`, `class var`, and `class` in an inheritance clause do not declare a type.
                guard let name = follows, name.isWord, !isMember, name.text.first?.isUppercase ?? false else {
                    continue
                }
                let declaration = TypeDeclaration(name: String(name.text), line: token.line)
                found.append(Found(declaration: declaration, depth: depth, isFilePrivate: lineIsPrivate))
            default: break
            }
        }
        return found
    }
}

/// Members that extensions in higher layers add to types of lower layers. A use of such a member is a hidden use of the
/// higher layer.
struct AddedMembers {
    /// For the name of an added member: the layer that adds the member, and the type to which the layer adds it. Names
    /// that a lower layer also declares are missing.
    private(set) var layerOfMember: [String: (layer: Int, type: String)] = [:]
    /// Names that members of the standard library, tuple elements or parameters also have. The scanner does not know
    /// the types of expressions, so it cannot distinguish their uses from uses of an added member.
    private static let ambiguous: Set<String> = [
        "add", "description", "element", "holder", "isEmpty", "name", "places",
    ]

    init(_ files: [SwiftFile], layerOfFile: [String: Int], layerOfType: [String: Int]) {
        var lowest: [String: Int] = [:]
        var added: [String: (layer: Int, type: String)] = [:]
        for file in files {
            guard let layer = layerOfFile[file.path] else { continue }
            for member in Self.members(of: file) {
                lowest[member.name] = min(layer, lowest[member.name] ?? layer)
                guard let type = member.extended, let home = layerOfType[type], home < layer else { continue }
                if layer < added[member.name]?.layer ?? .max { added[member.name] = (layer, type) }
            }
        }
        layerOfMember = added.filter { name, found in found.layer == lowest[name] && !Self.ambiguous.contains(name) }
    }

    private struct Member {
        let name: String
        /// The type whose extension declares the member.
        let extended: String?
    }

    private static func members(of file: SwiftFile) -> [Member] {
        var members: [Member] = []
        var depth = 0
        var extended: String?
        let tokens = file.tokens
        for index in tokens.indices {
            switch tokens[index].text {
            case "{": depth += 1
            case "}": depth -= 1
            case "extension" where depth == 0:
                extended = index + 1 < tokens.count ? String(tokens[index + 1].text) : nil
            case "class" where depth == 0, "struct" where depth == 0, "enum" where depth == 0,
                "protocol" where depth == 0, "actor" where depth == 0:
                extended = nil
            case "func", "var", "let", "case":
                guard index + 1 < tokens.count, tokens[index + 1].isWord else { continue }
                // Local names and enum cases are not members of the extended type.
                let isMember = depth == 1 && tokens[index].text != "case"
                members.append(Member(name: String(tokens[index + 1].text), extended: isMember ? extended : nil))
            default: break
            }
        }
        return members
    }

    /// Returns one finding for every used member of a higher layer, at its first use in the file.
    func uses(in file: SwiftFile, layer: Int, layers: [String]) -> [Finding] {
        var seen: Set<String> = []
        return file.tokens.indices.compactMap { index in
            let token = file.tokens[index]
            let isUse =
                index > 0 && file.tokens[index - 1].text == "."
                || index + 1 < file.tokens.count && file.tokens[index + 1].text == "("
            guard isUse, let found = layerOfMember[String(token.text)], found.layer > layer,
                seen.insert(String(token.text)).inserted
            else { return nil }
            return Finding(
                path: file.path, line: token.line,
                what: "'\(layers[layer])' uses '\(token.text)', which '\(layers[found.layer])' adds to '\(found.type)'",
                fix: "move the use up, or the member down")
        }
    }
}

@Suite("layer order")
struct LayerOrderTests {
    @Test(
        "a file names no type of a higher layer, and no member that a higher layer adds",
        arguments: Layers.ofModule.keys.sorted())
    func layerOrder(module: String) throws {
        let layers = try #require(Layers.ofModule[module])
        let files = Repository.sources.filter { $0.file.isUnder("Sources/\(module)") }
        let findings = Self.findings(module: module, layers: layers, files: files)
        expectTidy(findings.filter { !Self.isExcepted($0) })
    }

    @Test("every exception is needed")
    func exceptionsAreUsed() {
        let findings = Layers.ofModule.flatMap { module, layers in
            Self.findings(
                module: module, layers: layers,
                files: Repository.sources.filter { $0.file.isUnder("Sources/\(module)") })
        }
        for exception in Layers.exceptions {
            #expect(
                findings.contains { $0.path == exception.path && $0.what.contains("'\(exception.type)'") },
                "'\(exception.type)' in \(exception.path) needs no exception: remove it from the list")
        }
    }

    private static func isExcepted(_ finding: Finding) -> Bool {
        Layers.exceptions.contains { $0.path == finding.path && finding.what.contains("'\($0.type)'") }
    }

    static func findings(module: String, layers: [String], files: [SwiftFile]) -> [Finding] {
        var layerOfFile: [String: Int] = [:]
        var misplaced: [Finding] = []
        for file in files {
            let parts = file.path.split(separator: "/")
            if parts.count > 3, let layer = layers.firstIndex(of: String(parts[2])) {
                layerOfFile[file.path] = layer
            } else if file.file.stem != "Placeholder" {
                misplaced.append(
                    Finding(
                        path: file.path, line: 1, what: "is in no layer of \(module)",
                        fix: "move it to one of \(layers.joined(separator: ", "))"))
            }
        }
        // If several layers declare a type with the same name, the name belongs to the lowest of these layers.
        var layerOfType: [String: Int] = [:]
        for file in files {
            guard let layer = layerOfFile[file.path] else { continue }
            for type in TypeDeclaration.visible(in: file) {
                layerOfType[type.name] = min(layer, layerOfType[type.name] ?? layer)
            }
        }
        let added = AddedMembers(files, layerOfFile: layerOfFile, layerOfType: layerOfType)
        return misplaced
            + files.flatMap { file in
                guard let layer = layerOfFile[file.path] else { return [Finding]() }
                return upward(from: file, in: layer, layers: layers, layerOfType: layerOfType)
                    + added.uses(in: file, layer: layer, layers: layers)
            }
    }

    /// Returns one finding for every used type of a higher layer, at its first use in the file.
    private static func upward(from file: SwiftFile, in layer: Int, layers: [String], layerOfType: [String: Int])
        -> [Finding]
    {
        var seen = Set(TypeDeclaration.all(in: file).map(\.name))
        return file.tokens.indices.compactMap { index in
            let token = file.tokens[index]
            let isMember = index > 0 && file.tokens[index - 1].text == "."
            guard token.isWord, !isMember, let other = layerOfType[String(token.text)], other > layer,
                seen.insert(String(token.text)).inserted
            else { return nil }
            return Finding(
                path: file.path, line: token.line,
                what: "'\(layers[layer])' names '\(token.text)' of the higher layer '\(layers[other])'",
                fix: "move the use up as an extension, or the type down")
        }
    }
}
