import CMartletRuntime
import Foundation

/// The run loop of the thread that creates this object. Other threads can schedule work on it.
///
/// The class calls Core Foundation, because the API of Foundation is not sufficient: on Linux a `Timer` is never
/// deallocated, and `RunLoop.perform` does not wake a waiting run loop.
// Sendable: run loops accept blocks and can be woken from any thread. `source` is written only on the thread of the run
// loop. `deinit` reads `source` when no other reference to this object exists.
final class WakeableRunLoop: @unchecked Sendable {
    private let loop = RunLoop.current
    private let core = cmartlet_run_loop_retain_current()
    private var source: UnsafeMutableRawPointer?

    /// Runs `body` on the thread of the run loop, in the common modes, after all blocks that were scheduled earlier.
    func perform(_ body: @escaping @Sendable () -> Void) {
        loop.perform(inModes: [.common], block: body)
        cmartlet_run_loop_wake(core)
    }

    /// Keeps the run loop running while this object is alive.
    func keepRunning() {
        if source == nil { source = cmartlet_run_loop_add_idle_source(core) }
    }

    deinit {
        if let source { cmartlet_run_loop_remove_source(source) }
        cmartlet_run_loop_release(core)
    }
}
