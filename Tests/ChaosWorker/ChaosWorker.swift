import Foundation

/// One of the processes that `ChaosTests` starts, stops and kills: it writes to one file, or watches it, until it is ordered
/// to end or somebody ends it.
@main enum ChaosWorker {
    static func main() {
        if CommandLine.arguments.dropFirst().first == "deeds" { return describe(CommandLine.arguments.dropFirst(2)) }
        guard let assignment = Assignment(Array(CommandLine.arguments.dropFirst())) else {
            FileHandle.standardError.write(Data("this program is started by 'make chaos'\n".utf8))
            exit(2)
        }
        // Before there is a second thread, so that all have them blocked.
        var orders = sigset_t()
        sigemptyset(&orders)
        for order in Assignment.Order.all { sigaddset(&orders, order) }
        pthread_sigmask(SIG_BLOCK, &orders, nil)
        let worker = Worker(assignment)
        worker.begin()
        while true {
            var order: Int32 = 0
            if sigwait(&orders, &order) == 0 { worker.obey(order) }
        }
    }

    /// Says what transactions do that left these seeds in the file, for whoever looks into a run that failed.
    private static func describe(_ seeds: ArraySlice<String>) {
        for seed in seeds.compactMap({ UInt64($0) }) {
            let lines = Deed(seed).operations.map { "    \(Seen.short("\($0)"))" }
            print(([seed.description] + lines).joined(separator: "\n"))
        }
    }
}
