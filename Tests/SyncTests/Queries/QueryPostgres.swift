import Foundation

/// A PostgreSQL server in a temporary folder, without a network port. The tests send SQL to the server with `psql`.
///
/// PostgreSQL refuses to run as root. So if the tests run as root, they start the server as the user `postgres`.
final class QueryPostgres {
    private let folder: URL
    private static let programs = "/usr/lib/postgresql/15/bin"

    static var isAvailable: Bool {
        FileManager.default.isExecutableFile(atPath: programs + "/initdb")
            && (getuid() != 0 || FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv"))
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init() throws {
        // The folder is not in TMPDIR, because the user 'postgres' may not have access to TMPDIR.
        folder = URL(filePath: "/tmp/martlet-pg-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if getuid() == 0 { try Self.run(["/usr/bin/chown", "postgres", folder.path]) }
        let data = folder.path + "/data"
        try Self.run(owned(["initdb", "-D", data, "-A", "trust", "-U", "martlet", "--no-sync", "-E", "UTF8"]))
        let options = "-k \(folder.path) -c listen_addresses='' -c fsync=off -c timezone=UTC"
        try Self.run(owned(["pg_ctl", "-D", data, "-w", "-l", data + "/log", "-o", options, "start"]))
    }

    deinit {
        try? Self.run(owned(["pg_ctl", "-D", folder.path + "/data", "-m", "immediate", "-w", "stop"]))
        try? FileManager.default.removeItem(at: folder)
    }

    private func owned(_ command: [String]) -> [String] {
        let user = ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        return (getuid() == 0 ? user : []) + [Self.programs + "/" + command[0]] + command.dropFirst()
    }

    /// Runs SQL statements, and returns the lines of their output. The fields of a row are separated by `|`.
    func lines(_ sql: String) throws -> [Substring] {
        let input = folder.appending(path: "input.sql"), output = folder.appending(path: "output.txt")
        try Data(sql.utf8).write(to: input)
        try Self.run([
            Self.programs + "/psql", "-h", folder.path, "-U", "martlet", "-d", "postgres", "-X", "-q", "-A", "-t", "-v",
            "ON_ERROR_STOP=1", "-f", input.path, "-o", output.path,
        ])
        let text = try String(decoding: Data(contentsOf: output), as: UTF8.self)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    }

    // Runs a program until it ends. Foundation's 'Process' is not used, because it also waits for all processes that
    // the program has started. 'pg_ctl' starts the server, which continues to run.
    private static func run(_ command: [String]) throws {
        let output = FileManager.default.temporaryDirectory.appending(path: "martlet-pg-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: output) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output.path, O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        var status: Int32 = 0
        guard posix_spawn(&child, command[0], &actions, nil, arguments, environ) == 0 else {
            throw Failure(description: "'\(command[0])' cannot be started")
        }
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status != 0 else { return }
        let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        throw Failure(description: "'\(command.joined(separator: " "))' failed: \(text.prefix(2_000))")
    }
}
