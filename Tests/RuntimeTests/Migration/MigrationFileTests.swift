import ConformanceModels
import Foundation
import Testing

@testable import Martlet

/// A file that is deleted or replaced while a migration block runs.
@Suite struct MigrationFileTests {
    enum Loss: CaseIterable {
        /// The database file is deleted, or replaced by a file that is renamed to its path.
        case deleted, replaced
        /// The database file is deleted or replaced, and its log, the index of the log and its lock file are deleted.
        case deletedWithLog, replacedWithLog

        var includesLog: Bool { self == .deletedWithLog || self == .replacedWithLog }
        var isReplaced: Bool { self == .replaced || self == .replacedWithLog }

        func apply(to url: URL, _ other: URL) throws {
            if includesLog {
                for suffix in ["-wal", "-shm", ".lock"] {
                    try? FileManager.default.removeItem(atPath: url.path + suffix)
                }
            }
            guard isReplaced else { return try FileManager.default.removeItem(at: url) }
            guard rename(other.path, url.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        }
    }

    private static let keyless = "object Keyless\nproperty content Int"

    private func makePreviousFile(_ content: Int) throws -> PreviousFile {
        try PreviousFile([Self.keyless]) { create in _ = create("Keyless", ["content": content]) }
    }

    @Test(
        "a file that is deleted or replaced during its migration is not opened, and the new file is unchanged O2",
        arguments: Loss.allCases)
    func lost(_ loss: Loss) throws {
        let (previous, other) = try (makePreviousFile(1), makePreviousFile(2))
        let (expected, url, otherURL) = (other.contents, previous.url, other.url)
        let openingError = previous.openingError([Keyless.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Keyless") { _, new in new?["content"] = "changed" }
            #expect(throws: Never.self) { try loss.apply(to: url, otherURL) }
        }
        #expect(openingError?.code == .fileNotFound)
        #expect(
            openingError?.message.contains("the file was moved, deleted or replaced while it was open") == true,
            "\(openingError?.message ?? "")")
        #expect(FileManager.default.fileExists(atPath: previous.url.path) == loss.isReplaced)
        guard loss.isReplaced else {
            // Opening creates a new file.
            #expect(try previous.migrated([Keyless.self]).isEmpty)
            return
        }
        // The comparison is outside of #expect, so that a failure does not print all bytes.
        let isUnchanged = previous.contents == expected
        #expect(isUnchanged)
        let contents = try previous.migrated([Keyless.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Keyless") { old, new in
                new?["content"] = "was \(old?["content"] as? Int ?? 0)"
            }
        }.objects(Keyless.self).map(\.content)
        #expect(contents == ["was 2"])
    }
}
