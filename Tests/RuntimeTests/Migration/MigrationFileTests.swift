import ConformanceModels
import Foundation
import Testing

@testable import Martlet

/// A file that is deleted or replaced while a migration block works at it.
@Suite struct MigrationFileTests {
    enum Loss: CaseIterable {
        /// Its path leads nowhere, or to another file, which another program has renamed.
        case deleted, replaced
        /// The same, with the log and the lock of the file.
        case deletedWhole, replacedWhole

        var isWhole: Bool { self == .deletedWhole || self == .replacedWhole }
        var isReplaced: Bool { self == .replaced || self == .replacedWhole }

        func happen(to url: URL, _ other: URL) throws {
            if isWhole {
                for suffix in ["-wal", "-shm", ".lock"] {
                    try? FileManager.default.removeItem(atPath: url.path + suffix)
                }
            }
            guard isReplaced else { return try FileManager.default.removeItem(at: url) }
            guard rename(other.path, url.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        }
    }

    private static let keyless = "object Keyless\nproperty content Int"

    private func makePast(_ content: Int) throws -> PastProgram {
        try PastProgram([Self.keyless]) { create in _ = create("Keyless", ["content": content]) }
    }

    @Test(
        "O2 a file that is lost in the middle of its migration is not opened, and what is in its place stays as it is",
        arguments: Loss.allCases)
    func lost(_ loss: Loss) throws {
        let (past, other) = try (makePast(1), makePast(2))
        let (expected, url, otherURL) = (other.contents, past.url, other.url)
        let refusal = past.refusal([Keyless.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Keyless") { _, new in new?["content"] = "changed" }
            #expect(throws: Never.self) { try loss.happen(to: url, otherURL) }
        }
        #expect(refusal?.code == .fileNotFound)
        #expect(
            refusal?.message.contains("the file was moved, deleted or replaced while it was open") == true,
            "\(refusal?.message ?? "")")
        #expect(FileManager.default.fileExists(atPath: past.url.path) == loss.isReplaced)
        guard loss.isReplaced else {
            // A new file begins.
            #expect(try past.migrated([Keyless.self]).isEmpty)
            return
        }
        // Not printed byte by byte.
        let isUnchanged = past.contents == expected
        #expect(isUnchanged)
        let contents = try past.migrated([Keyless.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Keyless") { old, new in
                new?["content"] = "was \(old?["content"] as? Int ?? 0)"
            }
        }.objects(Keyless.self).map(\.content)
        #expect(contents == ["was 2"])
    }
}
