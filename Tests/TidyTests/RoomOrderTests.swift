import Testing

/// The layers of a module: its folders, from the lowest to the highest. A file uses its own layer and the layers below it.
enum Rooms {
    static let ofModule: [String: [String]] = [
        "MartletEngine": [
            "Environment", "Keys", "Schema", "Changes", "Storage", "Query", "Transactions", "Diffing", "Migration",
            "Coordination",
        ],
        "MartletDocs": ["Text", "Layout", "Diagram", "Pages"],
        "Martlet": [
            "Misuse", "Values", "Context", "Objects", "Query", "Collections", "Migration", "Realm", "Observation",
            "Projections",
        ],
    ]

    /// Allowed uses of a higher layer, with the reason. Should be empty.
    static let exceptions: [Exception] = []

    struct Exception {
        /// The file that uses a higher layer.
        let path: String
        /// The type that the file names.
        let type: String
        let reason: String
    }
}

/// A type that a file declares.
struct TypeDeclaration: Equatable {
    let name: String
    let line: Int

    private static let keywords: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]

    /// Types at the top level that are not private to the file.
    static func visible(in file: SwiftFile) -> [TypeDeclaration] {
        declarations(in: file).filter { $0.depth == 0 && !$0.isFilePrivate }.map(\.declaration)
    }

    /// Types at any depth.
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
                // `class func`, `class var`, and `protocol` in a constraint name no type.
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

@Suite("layer order")
struct RoomOrderTests {
    @Test("a file names no type of a higher layer", arguments: Rooms.ofModule.keys.sorted())
    func roomOrder(module: String) throws {
        let rooms = try #require(Rooms.ofModule[module])
        let files = Repository.sources.filter { $0.file.isUnder("Sources/\(module)") }
        let findings = Self.findings(module: module, rooms: rooms, files: files)
        expectTidy(findings.filter { !Self.isExcepted($0) })
    }

    @Test("every exception is needed")
    func exceptionsAreUsed() {
        let findings = Rooms.ofModule.flatMap { module, rooms in
            Self.findings(
                module: module, rooms: rooms, files: Repository.sources.filter { $0.file.isUnder("Sources/\(module)") })
        }
        for exception in Rooms.exceptions {
            #expect(
                findings.contains { $0.path == exception.path && $0.what.contains("'\(exception.type)'") },
                "'\(exception.type)' in \(exception.path) needs no exception: remove it from the list")
        }
    }

    private static func isExcepted(_ finding: Finding) -> Bool {
        Rooms.exceptions.contains { $0.path == finding.path && finding.what.contains("'\($0.type)'") }
    }

    static func findings(module: String, rooms: [String], files: [SwiftFile]) -> [Finding] {
        var layerOfFile: [String: Int] = [:]
        var misplaced: [Finding] = []
        for file in files {
            let parts = file.path.split(separator: "/")
            if parts.count > 3, let room = rooms.firstIndex(of: String(parts[2])) {
                layerOfFile[file.path] = room
            } else if file.file.stem != "Placeholder" {
                misplaced.append(
                    Finding(
                        path: file.path, line: 1, what: "is in no layer of \(module)",
                        mend: "move it to one of \(rooms.joined(separator: ", "))"))
            }
        }
        // A type that is declared in several layers counts for the lowest.
        var layerOfType: [String: Int] = [:]
        for file in files {
            guard let room = layerOfFile[file.path] else { continue }
            for type in TypeDeclaration.visible(in: file) {
                layerOfType[type.name] = min(room, layerOfType[type.name] ?? room)
            }
        }
        return misplaced
            + files.flatMap { file in
                layerOfFile[file.path].map { upward(from: file, in: $0, rooms: rooms, layerOfType: layerOfType) } ?? []
            }
    }

    /// The first use of every type of a higher layer.
    private static func upward(from file: SwiftFile, in room: Int, rooms: [String], layerOfType: [String: Int])
        -> [Finding]
    {
        var seen = Set(TypeDeclaration.all(in: file).map(\.name))
        return file.tokens.indices.compactMap { index in
            let token = file.tokens[index]
            let isMember = index > 0 && file.tokens[index - 1].text == "."
            guard token.isWord, !isMember, let other = layerOfType[String(token.text)], other > room,
                seen.insert(String(token.text)).inserted
            else { return nil }
            return Finding(
                path: file.path, line: token.line,
                what: "'\(rooms[room])' names '\(token.text)' of the higher layer '\(rooms[other])'",
                mend: "move the use up as an extension, or the type down")
        }
    }
}
