#if Postgres
    import Foundation
    import MartletPostgres
    import Synchronization
    import Testing

    /// A PostgreSQL server in a temporary folder. Only processes of this machine can connect to the server.
    ///
    /// A shell controls the server. When the standard input of the shell ends, the shell stops the server and deletes
    /// the folder. The input also ends if the process of the tests crashes.
    final class PostgresCluster: Sendable {
        /// The folder with the programs of PostgreSQL; nil if PostgreSQL is not found.
        static let programs: String? = {
            let versions = ["18", "17", "16", "15", "14"]
            let folders =
                [ProcessInfo.processInfo.environment["MARTLET_POSTGRES_BIN"]].compactMap { $0 }
                + versions.flatMap {
                    ["/usr/lib/postgresql/\($0)/bin", "/opt/homebrew/opt/postgresql@\($0)/bin", "/usr/pgsql-\($0)/bin"]
                }
            return folders.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
        }()

        static var isAvailable: Bool { programs != nil }

        /// The server that most tests share. Each of these tests has its own database.
        static let shared = Result { try PostgresCluster() }

        let folder: String
        private let shell: Shell

        /// Starts a server.
        ///
        /// - Parameter isDurable: whether commits wait for the disk. Measurements need durable commits, but tests do
        ///   not: a crash of the server alone does not lose data that the server has written to the file system.
        init(isDurable: Bool = false) throws {
            let programs = try #require(Self.programs)
            shell = try Shell(
                """
                set -e
                umask 022
                # PostgreSQL refuses to run as root.
                if [ "$(id -u)" = 0 ]; then
                    user="setpriv --reuid=postgres --regid=postgres --clear-groups"
                fi
                # Under /tmp, because the path of a socket has at most 107 bytes.
                folder=$($user mktemp -d /tmp/martlet-postgres.XXXXXX)
                cd "$folder"
                trap '$user \(programs)/pg_ctl -D "$folder/data" -m immediate stop >/dev/null; rm -rf "$folder"' EXIT
                $user \(programs)/initdb -D "$folder/data" -A trust -U martlet -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null
                cat >>"$folder/data/postgresql.conf" <<END
                unix_socket_directories = '$folder'
                listen_addresses = ''
                fsync = \(isDurable ? "on" : "off")
                max_connections = 200
                # With a short delay, the WAL writer would make commits durable that a test wants to lose.
                wal_writer_delay = 10s
                END
                start() { $user \(programs)/pg_ctl -D "$folder/data" -w -l "$folder/log" start >/dev/null; }
                start
                echo "$folder"
                while read -r command; do
                    case $command in
                    crash) $user \(programs)/pg_ctl -D "$folder/data" -m immediate -w stop >/dev/null && start ;;
                    save)
                        $user cp -a "$folder/data" "$folder/saved"
                        rm "$folder/saved/postmaster.pid" ;;
                    restore)
                        $user \(programs)/pg_ctl -D "$folder/data" -m immediate -w stop >/dev/null
                        rm -rf "$folder/data"
                        $user cp -a "$folder/saved" "$folder/data"
                        start ;;
                    promote)
                        $user \(programs)/pg_ctl -D "$folder/data" -m immediate -w stop >/dev/null
                        $user touch "$folder/data/standby.signal"
                        start
                        $user \(programs)/pg_ctl -D "$folder/data" -w promote >/dev/null ;;
                    esac
                    echo "done"
                done
                """)
            folder = shell.answer
            guard !folder.isEmpty else { throw PostgresError(.connectionFailure, "the server did not start") }
        }

        func address(_ database: String) -> String { "host=\(folder) user=martlet dbname=\(database)" }

        /// Stops the server without a checkpoint, as a crash does, and starts it again.
        func crash() { shell.run("crash") }

        /// Copies the files of the running server, as a snapshot of the file system does. No transaction may write
        /// during the call.
        func save() throws {
            try PostgresSession(address("postgres")).execute("CHECKPOINT")
            shell.run("save")
        }

        /// Stops the server, replaces its files by the copy that `save` has made, and starts it again. The timeline does
        /// not change.
        func restore() { shell.run("restore") }

        /// Starts the server as a standby, and promotes it. The timeline changes.
        func promote() { shell.run("promote") }

        /// Creates an empty database.
        func database(_ name: String) throws -> String {
            try PostgresSession(address("postgres")).execute("CREATE DATABASE \"\(name)\"")
            return address(name)
        }
    }

    /// A shell that reads commands from a pipe.
    private final class Shell: Sendable {
        private let input = Pipe()
        private let output = Pipe()
        private let process = Mutex<Process?>(nil)
        /// The first line that the script has written.
        let answer: String

        init(_ script: String) throws {
            let process = Process()
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", script]
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            answer = Self.line(output)
            self.process.withLock { $0 = process }
        }

        /// Sends a command, and waits for the line that the script writes when the command is done.
        func run(_ command: String) {
            input.fileHandleForWriting.write(Data("\(command)\n".utf8))
            _ = Self.line(output)
        }

        private static func line(_ pipe: Pipe) -> String {
            var bytes: [UInt8] = []
            while let byte = pipe.fileHandleForReading.readData(ofLength: 1).first, byte != 0x0A { bytes.append(byte) }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// The number of databases that tests have created on the shared server.
    private let databaseCount = Atomic(0)

    /// Creates a database for one test.
    func newDatabase() throws -> String {
        let number = databaseCount.add(1, ordering: .relaxed).newValue
        return try PostgresCluster.shared.get().database("test_\(number)")
    }

    extension Trait where Self == ConditionTrait {
        /// Skips the test or suite if PostgreSQL is not installed.
        static var needsPostgres: Self { .enabled(if: PostgresCluster.isAvailable, "PostgreSQL is not installed") }
    }
#endif
