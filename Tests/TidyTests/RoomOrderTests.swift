import Testing

/// The rooms of a module: its folders, from the ground up. A file uses its own room and the rooms below.
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

    /// Uses of a higher room that stay, with the reason. Better empty.
    static let exceptions: [Exception] = []

    struct Exception {
        /// The file that looks up.
        let path: String
        /// The type it names.
        let type: String
        let reason: String
    }
}

/// A type declared at the top of a file, for others to see.
struct TypeDeclaration: Equatable {
    let name: String
    let line: Int

    private static let keywords: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]

    /// Types at the top level that other files can see.
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

@Suite("room order")
struct RoomOrderTests {
    @Test("a file names no type of a higher room", arguments: Rooms.ofModule.keys.sorted())
    func roomOrder(module: String) throws {
        let rooms = try #require(Rooms.ofModule[module])
        let files = Repository.sources.filter { $0.file.isUnder("Sources/\(module)") }
        let findings = Self.findings(module: module, rooms: rooms, files: files)
        expectTidy(findings.filter { !Self.isExcepted($0) })
    }

    @Test("no exception is left over")
    func exceptionsAreUsed() {
        let findings = Rooms.ofModule.flatMap { module, rooms in
            Self.findings(
                module: module, rooms: rooms, files: Repository.sources.filter { $0.file.isUnder("Sources/\(module)") })
        }
        for exception in Rooms.exceptions {
            #expect(
                findings.contains { $0.path == exception.path && $0.what.contains("'\(exception.type)'") },
                "'\(exception.type)' in \(exception.path) needs no exception: take it out of the list")
        }
    }

    private static func isExcepted(_ finding: Finding) -> Bool {
        Rooms.exceptions.contains { $0.path == finding.path && finding.what.contains("'\($0.type)'") }
    }

    static func findings(module: String, rooms: [String], files: [SwiftFile]) -> [Finding] {
        var roomOfFile: [String: Int] = [:]
        var homeless: [Finding] = []
        for file in files {
            let parts = file.path.split(separator: "/")
            if parts.count > 3, let room = rooms.firstIndex(of: String(parts[2])) {
                roomOfFile[file.path] = room
            } else if file.file.stem != "Placeholder" {
                homeless.append(
                    Finding(
                        path: file.path, line: 1, what: "stands in no room of \(module)",
                        mend: "move it to one of \(rooms.joined(separator: ", "))"))
            }
        }
        // A name declared in several rooms counts for the lowest.
        var roomOfType: [String: Int] = [:]
        for file in files {
            guard let room = roomOfFile[file.path] else { continue }
            for type in TypeDeclaration.visible(in: file) {
                roomOfType[type.name] = min(room, roomOfType[type.name] ?? room)
            }
        }
        return homeless
            + files.flatMap { file in
                roomOfFile[file.path].map { upward(from: file, in: $0, rooms: rooms, roomOfType: roomOfType) } ?? []
            }
    }

    /// Every name of a higher room once, where it first stands.
    private static func upward(from file: SwiftFile, in room: Int, rooms: [String], roomOfType: [String: Int])
        -> [Finding]
    {
        var seen = Set(TypeDeclaration.all(in: file).map(\.name))
        return file.tokens.indices.compactMap { index in
            let token = file.tokens[index]
            let isMember = index > 0 && file.tokens[index - 1].text == "."
            guard token.isWord, !isMember, let other = roomOfType[String(token.text)], other > room,
                seen.insert(String(token.text)).inserted
            else { return nil }
            return Finding(
                path: file.path, line: token.line,
                what: "'\(rooms[room])' names '\(token.text)', which lives higher, in '\(rooms[other])'",
                mend: "move the use up as an extension, or the type down")
        }
    }
}
