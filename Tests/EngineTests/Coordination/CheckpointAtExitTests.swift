import Foundation
import Synchronization
import Testing

@testable import MartletEngine

/// A process that exits waits for its background checkpoints, for a limited time.
@Suite("checkpoints at the end of the process")
struct CheckpointAtExitTests {
    // These properties are static, because the functions that `exit` calls have no parameters.
    private static let mayContinue = DispatchSemaphore(value: 0)
    private static let coordinator = Mutex<StoreCoordinator?>(nil)

    private static let folder = Mutex<TestFolder?>(nil)

    /// Begins a checkpoint in the background, and blocks it until `mayContinue` is signaled.
    private static func beginCheckpoint() throws {
        let folder = try TestFolder()
        Self.folder.withLock { $0 = folder }
        // `exit` calls this function after the exit function of the runtime. It deletes the folder, because `exit` does
        // not call the `deinit` of `TestFolder`.
        atexit {
            let url = CheckpointAtExitTests.folder.withLock { $0?.url }
            if let url { try? FileManager.default.removeItem(at: url) }
        }
        let isInside = DispatchSemaphore(value: 0)
        let process = try VirtualProcess(folder.path()) {
            $0.environment.writeTimeoutMilliseconds = 30_000
            $0.environment.onYield = { point in
                guard point == .beforeCheckpoint else { return }
                isInside.signal()
                mayContinue.wait()
            }
        }
        try process.add("a")
        process.handle = nil
        process.coordinator.checkpointSoon()
        isInside.wait()
        coordinator.withLock { $0 = process.coordinator }
    }

    @Test("a process that exits waits for its running checkpoint D10 O2")
    func wait() async {
        await #expect(processExitsWith: .success) {
            // `exit` calls the functions in the reverse order of their registration. The runtime registers its function
            // later than this one, so `exit` calls the function of the runtime first.
            atexit {
                let copied = CheckpointAtExitTests.coordinator.withLock { $0?.locked { $0.repinnedCheckpoint } }
                _exit(copied == nil ? 1 : 0)
            }
            try Self.beginCheckpoint()
            atexit { CheckpointAtExitTests.mayContinue.signal() }
            exit(0)
        }
    }

    @Test("a process that exits waits for a file that another of its threads is closing D10")
    func closing() async {
        await #expect(processExitsWith: .success) {
            let folder = try TestFolder()
            Self.folder.withLock { $0 = folder }
            // `exit` calls this function after the exit function of the runtime.
            atexit {
                let path = CheckpointAtExitTests.folder.withLock { $0?.path() ?? "" }
                let isEmpty = StoreFiles.exists(path) && StoreFiles.logBytes(path) == 0
                try? FileManager.default.removeItem(atPath: StoreFiles.folder(of: path))
                _exit(isEmpty ? 0 : 1)
            }
            let isInside = DispatchSemaphore(value: 0)
            nonisolated(unsafe) var process: VirtualProcess? = try VirtualProcess(folder.path()) {
                $0.environment.onYield = { point in
                    guard point == .beforeCheckpoint else { return }
                    isInside.signal()
                    CheckpointAtExitTests.mayContinue.wait()
                }
            }
            try process?.add("a")
            process?.handle = nil
            Thread.detachNewThread { process = nil }
            isInside.wait()
            atexit { CheckpointAtExitTests.mayContinue.signal() }
            exit(0)
        }
    }

    @Test("a process that exits does not wait forever for a blocked checkpoint D10 O2")
    func timeout() async {
        await #expect(processExitsWith: .success) {
            // If the process does not end, the signal makes the test fail.
            alarm(60)
            try Self.beginCheckpoint()
            exit(0)
        }
    }
}
