import Dispatch
import Foundation
import Synchronization
import Testing

@testable import MartletEngine

/// Tests with several threads, files and paths. Each file must have one coordinator, and opening a file must not wait
/// for work on other files.
@Suite("registry of open files")
struct RegistryTests {
    private static let wider = [VirtualProcess.note, "object Cat\nproperty a Int"]

    /// A part of a test that runs on its own thread.
    private final class TestThread: Sendable {
        private let done = DispatchSemaphore(value: 0)
        private let failure = Mutex<EngineError?>(nil)

        init(_ body: @escaping @Sendable () throws -> Void) {
            Thread.detachNewThread { [self] in
                let error = engineError(body)
                failure.withLock { $0 = error }
                done.signal()
            }
        }

        /// Waits for the end of the thread. Returns false if the thread has not ended after 20 s.
        func ends() -> Bool { done.wait(timeout: .now() + .seconds(20)) == .success }

        var error: EngineError? { failure.withLock { $0 } }
    }

    /// Creates a file, and returns options that migrate it to schema version 1. The migration calls `block`.
    private func migrating(_ path: String, _ block: @escaping @Sendable () throws -> Void) throws -> StoreOptions {
        _ = try StoreRegistry.coordinator(VirtualProcess.options(path))
        return VirtualProcess.options(path) {
            $0.schemaVersion = 1
            $0.migration = { _ in try block() }
        }
    }

    @Test("two threads that open a file at the same time see all commits made before their first read O1")
    func openedMeanwhile() throws {
        let folder = try TestFolder()
        let options = VirtualProcess.options(folder.path())
        // This call opens the file, but reads no snapshot.
        let first = try StoreRegistry.coordinator(options)
        try VirtualProcess(folder.path()).add("by another process")
        let second = try StoreRegistry.coordinator(options)
        #expect(second === first)
        #expect(try VirtualProcess(second).noteCount == 1)
    }

    @Test("a file that only a background checkpoint keeps open can be opened with other options O1 O2")
    func heldByCheckpoint() throws {
        let folder = try TestFolder()
        let (begun, released, never) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let isFirst = Mutex(true)
        let options = VirtualProcess.options(folder.path()) {
            $0.environment.checkpointFrames = .max
            $0.environment.onYield = { point in
                let isHeld = isFirst.withLock { isFirst in
                    guard case .beforeCheckpoint = point else { return false }
                    defer { isFirst = false }
                    return isFirst
                }
                guard isHeld else { return }
                begun.signal()
                // Only the checkpoint still has the file open here. It keeps the file open for another 200 ms.
                _ = released.wait(timeout: .now() + .seconds(10))
                _ = never.wait(timeout: .now() + .milliseconds(200))
            }
        }
        try {
            let process = VirtualProcess(try StoreRegistry.coordinator(options))
            try process.add("a")
            process.coordinator.checkpointSoon()
            #expect(begun.wait(timeout: .now() + .seconds(60)) == .success)
        }()
        released.signal()
        var readOnly = VirtualProcess.options(folder.path())
        readOnly.isReadOnly = true
        #expect(try VirtualProcess(StoreRegistry.coordinator(readOnly)).noteCount == 1)
    }

    @Test("threads that open a missing file by several names get one coordinator O1")
    func namesOfMissingFile() throws {
        for _ in 0..<20 {
            let folder = try TestFolder()
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("dangling.realm"), withDestinationPath: "test.realm")
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("folder"), withDestinationPath: folder.url.path)
            let names = ["test.realm", "dangling.realm", "folder/test.realm", "folder/dangling.realm"]
            let opened = Mutex<[StoreCoordinator]>([])
            let threads = (names + names).map { name in
                let options = VirtualProcess.options(folder.path(name)) {
                    $0.environment.writeTimeoutMilliseconds = 10_000
                }
                return TestThread {
                    let coordinator = try StoreRegistry.coordinator(options)
                    opened.withLock { $0.append(coordinator) }
                }
            }
            for thread in threads { #expect(thread.ends() && thread.error == nil) }
            let coordinators = opened.withLock { $0 }
            #expect(coordinators.count == 8 && Set(coordinators.map(ObjectIdentifier.init)).count == 1)
        }
    }

    @Test("while a thread writes file A and another waits to change the schema of A, file B can be opened O1")
    func writerOpensAnother() throws {
        let folder = try TestFolder()
        let reached = DispatchSemaphore(value: 0)
        let isListening = Mutex(false)
        let process = VirtualProcess(
            try StoreRegistry.coordinator(
                VirtualProcess.options(folder.path()) {
                    $0.environment.writeTimeoutMilliseconds = 10_000
                    $0.environment.now = {
                        if isListening.withLock({ $0 }) { reached.signal() }
                        return DispatchTime.now().uptimeNanoseconds
                    }
                }))
        let wide = VirtualProcess.options(folder.path(), Self.wider)
        let other = VirtualProcess.options(folder.path("other.realm"))
        var waiting: TestThread?
        var opening: TestThread?
        try process.write { transaction in
            try transaction.addNote("a")
            isListening.withLock { $0 = true }
            waiting = TestThread { _ = try StoreRegistry.coordinator(wide) }
            #expect(reached.wait(timeout: .now() + .seconds(20)) == .success)
            opening = TestThread { _ = try StoreRegistry.coordinator(other) }
            #expect(opening?.ends() == true, "no thread uses the other file")
        }
        #expect(waiting?.ends() == true && waiting?.error == nil && opening?.error == nil)
        #expect(process.coordinator.schema["Cat"] != nil)
    }

    @Test("a migration may wait for a thread that opens another file O2")
    func migrationWaits() throws {
        let folder = try TestFolder()
        let other = VirtualProcess.options(folder.path("other.realm"))
        let ended = Mutex(false)
        let options = try migrating(folder.path()) {
            let thread = TestThread { _ = try StoreRegistry.coordinator(other) }
            let isDone = thread.ends() && thread.error == nil
            ended.withLock { $0 = isDone }
        }
        _ = try StoreRegistry.coordinator(options)
        #expect(ended.withLock { $0 })
    }

    @Test("inside a migration, opening the file that is being migrated fails, whatever path is used O2")
    func ownFile() throws {
        let folder = try TestFolder()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link.realm"), withDestinationPath: "test.realm")
        for (version, name) in ["test.realm", "link.realm"].enumerated() {
            let inside = VirtualProcess.options(folder.path(name))
            let code = Mutex<EngineError.Code?>(nil)
            var options = try migrating(folder.path()) {
                let error = engineError { _ = try StoreRegistry.coordinator(inside) }
                code.withLock { $0 = error?.code }
            }
            options.schemaVersion = UInt64(version + 1)
            options.types = VirtualProcess.options("", Self.wider).types
            _ = try StoreRegistry.coordinator(options)
            #expect(code.withLock { $0 } == .busy, "\(name)")
            StoreFiles.remove(folder.path())
        }
    }

    @Test("two migrations that open each other's file do not deadlock O2")
    func crossing() throws {
        let folder = try TestFolder()
        let names = ["test.realm", "other.realm"]
        let inside = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
        let codes = Mutex<[EngineError.Code?]>([])
        let threads = try [0, 1].map { index in
            let other = VirtualProcess.options(folder.path(names[1 - index]))
            let options = try migrating(folder.path(names[index])) {
                inside[index].signal()
                inside[1 - index].wait()
                let error = engineError { _ = try StoreRegistry.coordinator(other) }
                codes.withLock { $0.append(error?.code) }
            }
            return TestThread { _ = try StoreRegistry.coordinator(options) }
        }
        for thread in threads { #expect(thread.ends() && thread.error == nil) }
        // The call that would complete the deadlock fails. The call in the other migration then finds a file with a
        // newer schema version.
        #expect(codes.withLock { $0 } == [.busy, .schemaVersionNewer])
    }

    // MARK: Deleting

    @Test("a file is not deleted while it is being opened O8")
    func deletingWhileOpening() throws {
        let folder = try TestFolder()
        let file = folder.path()
        for round in 0..<150 {
            let options = VirtualProcess.options(file) { $0.environment.writeTimeoutMilliseconds = 10_000 }
            let start = DispatchSemaphore(value: 0)
            let deleting = TestThread {
                start.wait()
                _ = try StoreRegistry.remove(options)
            }
            let opening = TestThread {
                start.wait()
                let process = VirtualProcess(try StoreRegistry.coordinator(options))
                try process.add("a")
                withExtendedLifetime(process) {
                    #expect(StoreFiles.exists(file) && StoreFiles.exists(file + "-wal"), "round \(round)")
                }
            }
            start.signal()
            start.signal()
            #expect(deleting.ends() && opening.ends() && opening.error == nil)
            #expect(deleting.error == nil || deleting.error?.code == .accessDenied)
        }
    }

    @Test("a file is not deleted inside its own migration, nor during a write of another process O8")
    func deletingInUse() throws {
        let folder = try TestFolder()
        let path = folder.path()
        let code = Mutex<EngineError.Code?>(nil)
        let options = try migrating(path) {
            let error = engineError { _ = try StoreRegistry.remove(VirtualProcess.options(path)) }
            code.withLock { $0 = error?.code }
        }
        do { _ = try StoreRegistry.coordinator(options) }
        #expect(code.withLock { $0 } == .busy)
        do {
            let process = try VirtualProcess(path) { $0.schemaVersion = 1 }
            try process.write { transaction in
                try transaction.addNote("a")
                #expect(engineError { _ = try StoreRegistry.remove(VirtualProcess.options(path)) }?.code == .busy)
            }
            #expect(StoreFiles.exists(path))
        }
        #expect(try StoreRegistry.remove(VirtualProcess.options(path)))
        for suffix in StoreFiles.suffixes { #expect(!StoreFiles.exists(path + suffix)) }
        #expect(try !StoreRegistry.remove(VirtualProcess.options(path)))
    }

    @Test("deleting by a symbolic link deletes the file, its log and the link O8")
    func deletingByLink() throws {
        let folder = try TestFolder()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link.realm"), withDestinationPath: "test.realm")
        do { try VirtualProcess(StoreRegistry.coordinator(VirtualProcess.options(folder.path("link.realm")))).add("a") }
        #expect(StoreFiles.exists(folder.path() + "-wal"))
        #expect(try StoreRegistry.remove(VirtualProcess.options(folder.path("link.realm"))))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }
}
