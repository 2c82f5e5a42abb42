import Foundation

/// One of the processes that `ChaosTests` starts, stops and kills: it writes to one file, or watches it, until it is ordered
/// to end or somebody ends it.
@main enum ChaosWorker {
    static func main() {
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
}
