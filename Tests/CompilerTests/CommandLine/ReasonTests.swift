import Foundation
import Testing

/// Tests the messages about files that cannot be read or written. The last part of each message is the reason, usually
/// the error message of the operating system.
@Suite("Command line: reasons of errors")
struct ReasonTests {
    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(
            "objects:\n  ## Barks at night.\n  Dog:\n    primaryKey: id\n    properties: {id: ObjectId = new}\n",
            to: "Schemas/Dog.yaml")
        try folder.write("A file.", to: "File")
        return folder
    }

    @Test(
        "each message has the path, the operation that failed, and the reason S40",
        arguments: [
            (["generate", "Schemas", "--output", "File"], "'File': the folder cannot be made: not a directory"),
            (["generate", "Schemas", "--output", "File/Out"], "'File': the folder cannot be made: not a directory"),
            (["docs", "Schemas", "--output", "File"], "'File': the folder cannot be made: not a directory"),
            (["init", "File/Schemas"], "'File': the folder cannot be made: not a directory"),
            (["diagram", "Schemas", "--output", "Schemas"], "'Schemas': the file cannot be written: is a directory"),
            (["json-schema", "--output", "Schemas"], "'Schemas': the file cannot be written: is a directory"),
            (
                ["generate", "Loop.yaml", "--output", "Out"],
                "'Loop.yaml': the path cannot be examined: too many levels of symbolic links"
            ),
            (["lint", "Loop.yaml"], "'Loop.yaml': the file cannot be read: too many levels of symbolic links"),
            (
                ["json-schema", "--output", "Loop.yaml"],
                "'Loop.yaml': the file cannot be written: too many levels of symbolic links"
            ),
            (
                ["json-schema", "--output", "Pipe"],
                "'Pipe': the file cannot be written: this is a pipe; name a file"
            ),
        ])
    func messages(_ arguments: [String], _ message: String) throws {
        let folder = try folder()
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: folder.path + "/Loop.yaml", withDestinationPath: "Loop.yaml")
        try #require(mkfifo(folder.path + "/Pipe", 0o600) == 0)
        let outcome = try Executable().run(arguments, in: folder)
        #expect(outcome.status == 3)
        #expect(outcome.errors == "martlet: error: \(message)\n")
        #expect(outcome.output == "")
    }

    #if os(Linux)
        /// The test creates its own device. If the command replaced a device of the machine, the device would be lost.
        @Test(
            "a device is not replaced by a file S40",
            .enabled(if: getuid() == 0, "only root can create devices"))
        func device() throws {
            let folder = try folder()
            // Major and minor number of '/dev/null'.
            try #require(mknod(folder.path + "/Device", S_IFCHR | 0o600, 0x103) == 0)
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/Link", withDestinationPath: "Device")
            for path in ["Device", "Link"] {
                let outcome = try Executable().run(["diagram", "Schemas", "--output", path], in: folder)
                #expect(outcome.status == 3)
                #expect(
                    outcome.errors
                        == "martlet: error: '\(path)': the file cannot be written: this is a device; name a file\n")
            }
            var status = stat()
            try #require(stat(folder.path + "/Device", &status) == 0)
            #expect(status.st_mode & S_IFMT == S_IFCHR)
        }

        @Test("a folder that cannot be created is reported with the reason S40")
        func uncreatableFolder() throws {
            let folder = try folder()
            // Not even root can create files in '/proc'.
            let outcome = try Executable().run(["init", "/proc/self/fdinfo/Schemas"], in: folder)
            #expect(outcome.status == 3)
            #expect(
                outcome.errors == "martlet: error: '/proc/self/fdinfo/Schemas': the folder cannot be made: "
                    + "no such file or directory\n")
        }
    #endif

    @Test("an empty file is overwritten, but an empty file behind a link is not S20")
    func emptyFiles() throws {
        let folder = try folder()
        let executable = try Executable()
        try folder.write("", to: "Out/Dog.martlet.swift")
        #expect(try executable.run(["generate", "Schemas", "--output", "Out"], in: folder).status == 0)
        try folder.write("", to: "Mine.swift")
        try FileManager.default.removeItem(atPath: folder.path + "/Out/Dog.martlet.swift")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/Out/Dog.martlet.swift", withDestinationPath: "../Mine.swift")
        let outcome = try executable.run(["generate", "Schemas", "--output", "Out"], in: folder)
        #expect(outcome.status == 3)
        #expect(outcome.errors.contains("'Out/Dog.martlet.swift': a file with this name exists"))
        #expect(try folder.read("Mine.swift") == "")
    }
}
