import Foundation
import KennelModels
import Martlet
import Testing

/// Tests the errors of opening files, through the public API.
@Suite("opening files that cannot be used")
struct BadFileTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "martlet-bad-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func url(_ name: String = "test.realm") -> URL { folder.appending(path: name) }

    private func bytes(_ name: String = "test.realm") -> Data? { FileManager.default.contents(atPath: url(name).path) }

    /// Opens the file. Returns the `Realm.Error` that was thrown, or nil if the file was opened.
    private func openingError(_ name: String = "test.realm", _ adjust: (inout Realm.Configuration) -> Void = { _ in })
        -> Realm.Error?
    {
        var configuration = Realm.Configuration(fileURL: url(name))
        adjust(&configuration)
        do {
            _ = try Realm(configuration: configuration)
            return nil
        } catch {
            return error as? Realm.Error
        }
    }

    /// Expects that opening the file throws an error with this code, path and text, and does not change the file.
    private func expect(
        _ code: Realm.Error.Code, _ name: String = "test.realm", says text: String,
        sourceLocation: SourceLocation = #_sourceLocation, _ adjust: (inout Realm.Configuration) -> Void = { _ in }
    ) {
        let before = bytes(name)
        let error = openingError(name, adjust)
        #expect(error?.code == code, sourceLocation: sourceLocation)
        #expect(error?.path == url(name).path, sourceLocation: sourceLocation)
        #expect(error?.message.contains(text) == true, "\(error?.message ?? "")", sourceLocation: sourceLocation)
        #expect(error?.description.contains(url(name).path) == true, sourceLocation: sourceLocation)
        let isSame = bytes(name) == before
        #expect(isSame, "the file was changed", sourceLocation: sourceLocation)
    }

    private func makeFile(_ adjust: (inout Realm.Configuration) -> Void = { _ in }) throws {
        var configuration = Realm.Configuration(fileURL: url())
        adjust(&configuration)
        let realm = try Realm(configuration: configuration)
        try realm.write {
            for number in 0..<200 { realm.add(Dog(name: "dog \(number) \(String(repeating: "x", count: 100))")) }
        }
    }

    @Test("opening a missing file with readOnly, or a file in a missing folder, throws D70")
    func missing() {
        expect(.fileNotFound, says: "'readOnly' does not create one") { $0.readOnly = true }
        expect(.fileNotFound, "no/such.realm", says: "create it first")
        #expect(!Realm.fileExists(for: Realm.Configuration(fileURL: url())))
        try? FileManager.default.removeItem(at: folder)
    }

    @Test("opening a folder throws D70")
    func directory() throws {
        try FileManager.default.createDirectory(at: url(), withIntermediateDirectories: false)
        expect(.fileAccess, says: "name a file")
        try? FileManager.default.removeItem(at: folder)
    }

    @Test("opening a text file, or a file of a few bytes, throws D71")
    func text() throws {
        for text in ["x", "Dear diary", String(repeating: "All work and no play. ", count: 400)] {
            try Data(text.utf8).write(to: url())
            expect(.notADatabase, says: "left as it is")
        }
        try? FileManager.default.removeItem(at: folder)
    }

    @Test("opening a truncated file throws and does not change the file D72")
    func truncated() throws {
        try makeFile()
        let whole = try #require(bytes())
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url().path + suffix) }
        for length in [1, 100, 600, 4_096, 8_192, 20_000, whole.count - 1] where length < whole.count {
            try whole.prefix(length).write(to: url())
            let error = openingError()
            #expect(error.map { [.fileCorrupted, .notADatabase].contains($0.code) } == true, "\(length)")
            let isSame = bytes() == whole.prefix(length)
            #expect(isSame)
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url().path + suffix) }
        }
        try? FileManager.default.removeItem(at: folder)
    }

    @Test("opening a file of a newer schema version throws")
    func newerSchema() throws {
        try makeFile { $0.schemaVersion = 5 }
        expect(.schemaVersionNewer, says: "raise 'schemaVersion'") { $0.schemaVersion = 4 }
        #expect(openingError { $0.schemaVersion = 5 } == nil)
        try? FileManager.default.removeItem(at: folder)
    }

    @Test("opening a file twice with conflicting configurations throws D78")
    func contradiction() throws {
        let realm = try Realm(configuration: Realm.Configuration(fileURL: url()))
        #expect(openingError { $0.readOnly = true }?.code == .incompatibleConfiguration)
        #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: realm.configuration) }
        withExtendedLifetime(realm) {}
        try? FileManager.default.removeItem(at: folder)
    }

    @Test("an error can be caught by its code")
    func pattern() {
        do {
            _ = try Realm(configuration: Realm.Configuration(fileURL: url(), readOnly: true))
            Issue.record("the file was opened")
        } catch Realm.Error.fileNotFound {
            // This is the expected error.
        } catch {
            Issue.record("\(error)")
        }
        try? FileManager.default.removeItem(at: folder)
    }
}
