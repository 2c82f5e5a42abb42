package import Dispatch

/// Runs the jobs of actors on a serial queue of Dispatch. These actors read and write the file, which can block the
/// thread. So their methods must not run on the threads of Swift's concurrency runtime.
package final class QueueExecutor: SerialExecutor {
    package let queue: DispatchQueue

    package init(label: String) { queue = DispatchQueue(label: label, qos: .utility) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
