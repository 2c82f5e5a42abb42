import CMartletRuntime
import Foundation

/// The run loop of the thread that makes it, for work that other threads give it.
///
/// Foundation's own ways do not serve: on Linux a `Timer` is never freed, and `RunLoop.perform` does not wake a run loop
/// that waits.
// Sendable: run loops take blocks and are woken from any thread; `source` is written on the loop's thread alone, and by
// `deinit`, which nothing else runs beside.
final class WakingRunLoop: @unchecked Sendable {
    private let loop = RunLoop.current
    private let core = cmartlet_run_loop_retain_current()
    private var source: UnsafeMutableRawPointer?

    /// Runs `body` on the loop's thread, in its common modes, after what was given to it before.
    func perform(_ body: @escaping @Sendable () -> Void) {
        loop.perform(inModes: [.common], block: body)
        cmartlet_run_loop_wake(core)
    }

    /// Keeps the loop running while this object lives.
    func keepRunning() {
        if source == nil { source = cmartlet_run_loop_keep(core) }
    }

    deinit {
        if let source { cmartlet_run_loop_stop_keeping(source) }
        cmartlet_run_loop_release(core)
    }
}
