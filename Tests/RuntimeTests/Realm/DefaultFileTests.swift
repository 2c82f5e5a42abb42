import ConformanceModels
import Foundation
import Testing

@testable import Martlet

/// Tests of the location of the default file. Environment variables belong to a process, so each test that sets them
/// runs in its own process.
@Suite("the default file") struct DefaultFileTests {
    /// Creates a temporary folder.
    private static func folder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-default-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Opens the default file, and checks its path and access rights.
    private static func expect(_ path: String) throws {
        let realm = try Realm(configuration: Realm.Configuration(), queue: nil)
        try realm.write { realm.add(Node(id: 1)) }
        guard realm.configuration.fileURL?.path == path, FileManager.default.fileExists(atPath: path),
            Realm.Configuration.defaultConfiguration.fileURL?.path == path
        else {
            print("the default file is at", realm.configuration.path)
            exit(3)
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o077 == 0 else { exit(4) }
    }

    private static var program: String { ProcessInfo.processInfo.processName }

    @Test("the default file is in the data folder that the environment names, and only the user can access it D80")
    func data() async {
        await #expect(processExitsWith: .success) {
            let folder = try DefaultFileTests.folder()
            setenv("XDG_DATA_HOME", "\(folder)/data", 1)
            try DefaultFileTests.expect("\(folder)/data/\(DefaultFileTests.program)/default.realm")
            var status = stat()
            guard stat("\(folder)/data/\(DefaultFileTests.program)", &status) == 0, status.st_mode & 0o777 == 0o700
            else { exit(5) }
            try FileManager.default.removeItem(atPath: folder)
        }
    }

    @Test(
        "if the data folder is not set or its path is relative, the default file is in the home directory D80",
        arguments: ["", "relative/data"])
    func home(_ data: String) async {
        await #expect(processExitsWith: .success) { [data = data as String] in
            let folder = try DefaultFileTests.folder()
            if data.isEmpty { unsetenv("XDG_DATA_HOME") } else { setenv("XDG_DATA_HOME", data, 1) }
            setenv("HOME", folder, 1)
            try DefaultFileTests.expect("\(folder)/.local/share/\(DefaultFileTests.program)/default.realm")
            try FileManager.default.removeItem(atPath: folder)
        }
    }

    @Test("without a home directory, the error says what to set; then the folder that the program sets is used D80")
    func noHomeDirectory() async {
        await #expect(processExitsWith: .success) {
            unsetenv("XDG_DATA_HOME")
            unsetenv("HOME")
            guard Realm.Configuration().fileURL == nil, Realm.Configuration.defaultFolder == nil else { exit(5) }
            do {
                _ = try Realm(configuration: Realm.Configuration(), queue: nil)
                exit(6)
            } catch let error as Realm.Error {
                let words = ["'XDG_DATA_HOME'", "'HOME'", "'Realm.Configuration.defaultFolder'", "'fileURL'"]
                guard error.code == .fileNotFound, words.allSatisfy(error.message.contains) else { exit(7) }
            }
            let folder = try DefaultFileTests.folder()
            Realm.Configuration.defaultFolder = URL(fileURLWithPath: "\(folder)/chosen")
            try DefaultFileTests.expect("\(folder)/chosen/default.realm")
            try FileManager.default.removeItem(atPath: folder)
        }
    }

    @Test(
        "all functions that take the URL of a file reject URLs that are not file URLs D76",
        arguments: ["http://example.org/a.realm", "data:text/plain,a"])
    func otherURLs(_ text: String) throws {
        let url = try #require(URL(string: text))
        let memory = try Realm(configuration: .init(inMemoryIdentifier: UUID().uuidString))
        let attempts: [() throws -> Void] = [
            { _ = try Realm(configuration: .init(fileURL: url)) },
            { _ = try Realm(configuration: .init(inMemoryIdentifier: "a", seedFilePath: url)) },
            { try Realm.performMigration(for: .init(fileURL: url)) },
            { try Realm.deleteFiles(for: .init(fileURL: url)) },
            { try Realm.compact(configuration: .init(fileURL: url)) },
            { try memory.writeCopy(toFile: url) },
            { _ = try schemaVersionAtURL(url) },
        ]
        for attempt in attempts {
            let error = #expect(throws: Realm.Error.self) { try attempt() }
            #expect(error?.code == .invalidInput && error?.message.contains("'\(text)'") == true)
        }
        #expect(!Realm.fileExists(for: .init(fileURL: url)))
    }

    @Test(
        "a file mode is rejected if the owner cannot read and write, or if it has bits other than permissions D50",
        arguments: [0o400, 0o000, 0o1600])
    func badMode(_ mode: Int) {
        var configuration = Realm.Configuration(inMemoryIdentifier: "mode")
        configuration.fileMode = UInt16(mode)
        let error = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration) }
        #expect(error?.code == .invalidInput)
    }
}
