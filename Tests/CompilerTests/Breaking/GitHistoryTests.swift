import Foundation
import MartletCompiler
import MartletSchema
import Testing

@testable import MartletTools

@Suite("Breaking: git")
struct GitHistoryTests {
    private static let one = "objects:\n  Dog: {properties: {one: Int}}\n"
    private static let two = "objects:\n  Dog: {properties: {two: Int}}\n"
    private static let three = "objects:\n  Dog: {properties: {three: Int}}\n"

    /// Returns the schema files at the merge base of HEAD and `reference`. The keys are `commit:path`, and the values
    /// are the texts of the files.
    private func schema(
        _ repository: ScratchRepository, _ folder: String = "Schemas", where reference: String = "main"
    ) throws -> [String: String] {
        let schema = try GitHistory(of: "\(repository.path)/\(folder)").schema(atMergeBaseWith: reference)
        return Dictionary(
            uniqueKeysWithValues: try #require(schema.input).sources.map {
                ($0.displayPath, $0.text(of: $0.span))
            })
    }

    private func message(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return (error as? GitError)?.description
        }
    }

    // MARK: Which commit

    @Test("the schema is read at the merge base, not at the tip of the branch S43")
    func mergeBase() throws {
        let repository = try ScratchRepository()
        let base = try repository.commit(Self.one)
        try repository.git("checkout", "--quiet", "-b", "work")
        try repository.commit(Self.two)
        try repository.git("checkout", "--quiet", "main")
        try repository.commit(Self.three)
        try repository.git("checkout", "--quiet", "work")
        #expect(try schema(repository) == ["\(base):Schemas/Dog.yaml": Self.one])
        #expect(try schema(repository, where: "HEAD~1") == ["\(base):Schemas/Dog.yaml": Self.one])
    }

    @Test("if the ref is ahead of HEAD or equal to it, the schema is read at HEAD S43")
    func ahead() throws {
        let repository = try ScratchRepository()
        let base = try repository.commit(Self.one)
        try repository.git("checkout", "--quiet", "-b", "work")
        try repository.commit(Self.two)
        try repository.git("checkout", "--quiet", "main")
        try repository.write(Self.three)
        for reference in ["work", "HEAD", "refs/heads/main"] {
            #expect(try schema(repository, where: reference) == ["\(base):Schemas/Dog.yaml": Self.one])
        }
    }

    @Test("an annotated tag resolves to its commit S43")
    func tag() throws {
        let repository = try ScratchRepository()
        let base = try repository.commit(Self.one)
        try repository.git("tag", "--annotate", "--message=One", "v1")
        try repository.commit(Self.two)
        #expect(try schema(repository, where: "v1") == ["\(base):Schemas/Dog.yaml": Self.one])
    }

    // MARK: Which files

    @Test("exactly the schema files below the folder are read, including files with names that are not ASCII S43")
    func files() throws {
        let repository = try ScratchRepository()
        try repository.write(Self.two, to: "Models/Schemas/Größe/Hund und Katze.yaml")
        try repository.write("lint: {preset: strict}\n", to: "Models/Schemas/martlet.yaml")
        for name in ["Models/Schemas/.hidden/Cat.yaml", "Models/Schemas/notes.txt", "Models/SchemasToo/Cat.yaml"] {
            try repository.write(Self.three, to: name)
        }
        let base = try repository.commit(Self.one, to: "Models/Schemas/Dog.yaml")
        #expect(
            try schema(repository, "Models/Schemas") == [
                "\(base):Models/Schemas/Dog.yaml": Self.one,
                "\(base):Models/Schemas/Größe/Hund und Katze.yaml": Self.two,
            ])
    }

    @Test("file contents that exceed the buffer of a pipe are read, even without a final line feed S43")
    func manyFiles() throws {
        let repository = try ScratchRepository()
        for index in 0..<450 {
            let text = index % 3 == 0 ? "" : "# \(String(repeating: "x", count: index))"
            try repository.write(text + (index % 3 == 1 ? "\n" : ""), to: "Schemas/F\(index).yaml")
        }
        let base = try repository.commit()
        let files = try schema(repository)
        #expect(files.count == 450)
        for index in 0..<450 {
            #expect(files["\(base):Schemas/F\(index).yaml"] == (try repository.folder.read("Schemas/F\(index).yaml")))
        }
    }

    @Test("symbolic links in the commit are followed, even if the folder itself is a link S43")
    func links() throws {
        let repository = try ScratchRepository()
        try repository.write(Self.one, to: "Sources/App/Models.swift")
        try repository.write(Self.two, to: "Shared/Cat.yaml")
        try repository.write(Self.one, to: "Schemas/Dog.yaml")
        let link = { (place: String, target: String) in
            try FileManager.default.createSymbolicLink(
                atPath: "\(repository.path)/\(place)", withDestinationPath: target)
        }
        try link("Sources/App/Schemas", "../../Schemas")
        try link("Schemas/Shared", "../Shared")
        try link("Schemas/Bird.yaml", "Shared/Cat.yaml")
        try link("Schemas/Gone.yaml", "nowhere.yaml")
        try link("Schemas/Outside.yaml", "../../../outside.yaml")
        let base = try repository.commit()
        let expected = ["\(base):Schemas/Dog.yaml": Self.one, "\(base):Schemas/Shared/Cat.yaml": Self.two]
        let files = try schema(repository, "Sources/App/Schemas")
        #expect(files == expected)
        try link("Schemas/Loop", "../Schemas")
        try repository.commit()
        #expect(
            message { _ = try schema(repository) }?.hasSuffix(
                "is a symbolic link that leads back to itself; compare with a folder") == true)
    }

    @Test("a 'martlet.yaml' that is a symbolic link is followed S43")
    func linkedConfiguration() throws {
        let repository = try ScratchRepository()
        try repository.write(Self.one, to: "Schemas/Dog.yaml")
        try repository.write("access: package\n", to: "Settings/shared.yaml")
        try FileManager.default.createSymbolicLink(
            atPath: "\(repository.path)/Schemas/martlet.yaml", withDestinationPath: "../Settings/shared.yaml")
        try repository.commit()
        let schema = try GitHistory(of: "\(repository.path)/Schemas").schema(atMergeBaseWith: "main")
        let configuration = try #require(schema.input?.configuration)
        #expect(configuration.text(of: configuration.span) == "access: package\n")
    }

    @Test("a moved folder is found at its old path S43")
    func moved() throws {
        let repository = try ScratchRepository()
        try repository.write(Self.two, to: "Schemas/Sub/Cat.yaml")
        try repository.commit(Self.one)
        try repository.git("checkout", "--quiet", "-b", "work")
        try FileManager.default.createDirectory(atPath: repository.path + "/App", withIntermediateDirectories: false)
        try repository.git("mv", "Schemas", "App/Models")
        try repository.commit()
        let schema = try GitHistory(of: repository.path + "/App/Models").schema(atMergeBaseWith: "main")
        #expect(schema.isMoved)
        #expect(schema.folder == "Schemas")
        #expect(schema.input?.sources.map(\.relativePath) == ["Dog.yaml", "Sub/Cat.yaml"])
    }

    @Test("a folder that does not exist at the merge base has no schema S43")
    func newFolder() throws {
        let repository = try ScratchRepository()
        let base = try repository.commit(Self.one, to: "Other/Dog.yaml")
        try repository.write(Self.one)
        let schema = try GitHistory(of: repository.path + "/Schemas").schema(atMergeBaseWith: "main")
        #expect(schema.input == nil)
        #expect(schema.commit == base)
        #expect(!schema.isMoved)
    }

    @Test("neither the work tree nor the index is modified S43")
    func untouched() throws {
        let repository = try ScratchRepository()
        try repository.commit(Self.one)
        // The index of git now contains an outdated file date. A git command that refreshes the index would change the
        // index file.
        try repository.write(Self.two)
        try repository.write(Self.one)
        try repository.folder.setOld("Schemas/Dog.yaml")
        try repository.folder.setOld(".git/index")
        let before = try FileManager.default.subpathsOfDirectory(atPath: repository.path).sorted()
        #expect(try schema(repository).count == 1)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: repository.path).sorted() == before)
        for name in ["Schemas/Dog.yaml", ".git/index"] {
            #expect(try repository.folder.modified(name) == Date(timeIntervalSince1970: 1000))
        }
    }

    // MARK: Errors

    @Test("a missing git program, repository, commit, ref or common history is an error S43")
    func errors() throws {
        let empty = try TemporaryFolder()
        #expect(
            message { _ = try GitHistory(of: empty.path, environment: ["PATH": empty.path]) }
                == "no program 'git' in PATH; install it, or compare with a folder")
        // With this variable, git does not search the parent of the temporary folder for a repository.
        var environment = ProcessInfo.processInfo.environment
        environment["GIT_CEILING_DIRECTORIES"] = (empty.path as NSString).deletingLastPathComponent
        #expect(
            message { _ = try GitHistory(of: empty.path, environment: environment) }
                == "'\(empty.path)' is in no git repository; compare with a folder")

        let repository = try ScratchRepository()
        try repository.write(Self.one)
        #expect(
            message { _ = try schema(repository, where: "main") }
                == "no git ref 'main', and no such folder; fetch it, or see 'git branch --all'")
        try repository.commit()
        for reference in ["nowhere", "--help", "-", "", "main..main"] {
            #expect(
                message { _ = try schema(repository, where: reference) }
                    == "no git ref '\(reference)', and no such folder; fetch it, or see 'git branch --all'")
        }
        try repository.git("checkout", "--quiet", "--orphan", "other")
        try repository.commit(Self.two)
        #expect(
            message { _ = try schema(repository) }
                == "HEAD and 'main' have no commit in common; fetch more of the history, or compare with a folder")
        #expect(try schema(repository, where: "other").count == 1)
    }

    @Test("git variables that a hook sets for another repository are ignored S43")
    func hooks() throws {
        let repository = try ScratchRepository()
        let base = try repository.commit(Self.one)
        let other = try ScratchRepository()
        try other.commit(Self.two)
        var environment = ProcessInfo.processInfo.environment
        environment["GIT_DIR"] = other.path + "/.git"
        environment["GIT_WORK_TREE"] = other.path
        environment["GIT_INDEX_FILE"] = other.path + "/.git/index"
        let history = try GitHistory(of: repository.path + "/Schemas", environment: environment)
        #expect(try history.schema(atMergeBaseWith: "main").commit == base)
    }
}
