#if Sync
    import Foundation

    /// One measured number.
    struct Figure: Sendable {
        let name: String
        let value: Double
        let unit: String
        /// What the number should be.
        let target: String
        /// The number that the C program reaches.
        let bare: Double?

        init(_ name: String, _ value: Double, _ unit: String, target: String = "", bare: Double? = nil) {
            (self.name, self.value, self.unit, self.target, self.bare) = (name, value, unit, target, bare)
        }

        var row: String {
            let ratio = bare.map { "\(Self.text($0)) (\(Self.text(value / $0)))" } ?? ""
            return "| \(name) | \(Self.text(value)) \(unit) | \(target) | \(ratio) |"
        }

        private static func text(_ number: Double) -> String {
            number.formatted(.number.precision(abs(number) < 100 ? .significantDigits(2...3) : .fractionLength(0)))
        }
    }

    /// Measures synchronization with a real PostgreSQL server: 'make bench-sync'.
    @main
    struct SyncBenchmark {
        static func main() async {
            do {
                try await run()
            } catch {
                print("error: \(error)")
                exit(1)
            }
        }

        @MainActor
        private static func run() async throws {
            let measurements = Measurements(settings: try Settings())
            let steps: [(name: String, run: @MainActor () async throws -> [Figure])] = [
                ("bootstrap", { try await measurements.bootstrap() }),
                ("upload", { try await measurements.uploads(1, target: "≥ 350") }),
                ("upload16", { try await measurements.uploads(16, target: "≥ 1,500") }),
                ("realm", { try await measurements.realmUploads() }),
                ("latency", { try await measurements.latency() }),
                ("matching", { try await measurements.matching(100) }),
                ("matching10000", { try await measurements.matching(10_000) }),
                ("connections", { try await measurements.connections(isEncrypted: false) }),
                ("tls", { try await measurements.connections(isEncrypted: true) }),
            ]
            let chosen = CommandLine.arguments.dropFirst()
            print("| measurement | result | target | C program (ratio) |\n|---|---|---|---|")
            for step in steps where chosen.isEmpty || chosen.contains(step.name) {
                for figure in try await step.run() { print(figure.row) }
                fflush(nil)
            }
        }
    }
#else
    @main
    struct SyncBenchmark {
        static func main() { print("run 'make bench-sync'") }
    }
#endif
