import Foundation
import Synchronization
import Testing

@testable import MartletEngine

/// What the end of a program waits for.
@Suite("checkpoints when the program ends")
struct CheckpointAtExitTests {
    // In globals, because a function that is called at the end is given nothing.
    private static let mayGoOn = DispatchSemaphore(value: 0)
    private static let coordinator = Mutex<StoreCoordinator?>(nil)

    private static let folder = Mutex<TestFolder?>(nil)

    /// Stops in a checkpoint in the background for as long as nobody lets it go on.
    private static func beginCheckpoint() throws {
        let folder = try TestFolder()
        Self.folder.withLock { $0 = folder }
        // Called after the runtime's own, as a folder is not removed by its end.
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
                mayGoOn.wait()
            }
        }
        try process.add("a")
        process.handle = nil
        process.coordinator.checkpointSoon()
        isInside.wait()
        coordinator.withLock { $0 = process.coordinator }
    }

    @Test("D10 O2 the end of the program waits for a checkpoint under way")
    func wait() async {
        await #expect(processExitsWith: .success) {
            // They are called in the opposite order: this one after the runtime's own.
            atexit {
                let copied = CheckpointAtExitTests.coordinator.withLock { $0?.locked { $0.repinnedCopy } }
                _exit(copied == nil ? 1 : 0)
            }
            try Self.beginCheckpoint()
            atexit { CheckpointAtExitTests.mayGoOn.signal() }
            exit(0)
        }
    }

    @Test("D10 O2 the end of the program does not wait for ever for a checkpoint that does not get on")
    func patience() async {
        await #expect(processExitsWith: .success) {
            // Ends it otherwise than expected.
            alarm(60)
            try Self.beginCheckpoint()
            exit(0)
        }
    }
}
