import Foundation
import Synchronization

/// A queue of byte strings. If the queue exceeds a size, it stores further byte strings in a temporary file. The file
/// has no name, so it disappears with the process.
///
/// Thread safety: all methods may be called on any thread.
package final class ByteSpool: Sendable {
    private struct State {
        var memory: [[UInt8]] = []
        var memoryBytes = 0
        /// The number of elements of `memory` that were taken.
        var takenFromMemory = 0
        var file: SpoolFile?
        /// The lengths of the byte strings in the file.
        var lengths: [Int] = []
        var takenFromFile = 0
        var readOffset = 0
        var writeOffset = 0
    }

    /// The reason why the temporary file cannot be used.
    package struct FileError: Error, CustomStringConvertible {
        package let description: String
    }

    private let state = Mutex(State())
    private let maximumMemoryBytes: Int

    package init(maximumMemoryBytes: Int = 4 << 20) { self.maximumMemoryBytes = maximumMemoryBytes }

    /// The file descriptor of the temporary file; nil if there is no file.
    var descriptor: Int32? { state.withLock { $0.file?.descriptor } }

    /// The number of byte strings that were appended.
    package var count: Int { state.withLock { $0.memory.count + $0.lengths.count } }

    /// The total size of the byte strings that were not taken yet.
    package var remainingBytes: Int { state.withLock { $0.memoryBytes + $0.writeOffset - $0.readOffset } }

    /// - Throws: `FileError`, for example if the disk is full.
    package func append(_ bytes: [UInt8]) throws {
        try state.withLock { state in
            if state.file == nil, state.memoryBytes + bytes.count <= maximumMemoryBytes {
                state.memory.append(bytes)
                state.memoryBytes += bytes.count
                return
            }
            let file = try state.file ?? SpoolFile()
            state.file = file
            try file.write(bytes, at: state.writeOffset)
            state.writeOffset += bytes.count
            state.lengths.append(bytes.count)
        }
    }

    /// Removes and returns the first byte string; nil if there is none.
    package func next() throws -> [UInt8]? {
        try state.withLock { state in
            if state.takenFromMemory < state.memory.count {
                let bytes = state.memory[state.takenFromMemory]
                state.memory[state.takenFromMemory] = []
                state.takenFromMemory += 1
                state.memoryBytes -= bytes.count
                return bytes
            }
            guard let file = state.file, state.takenFromFile < state.lengths.count else { return nil }
            let bytes = try file.read(state.lengths[state.takenFromFile], at: state.readOffset)
            state.takenFromFile += 1
            state.readOffset += bytes.count
            return bytes
        }
    }
}

/// A temporary file that has no name.
private final class SpoolFile: Sendable {
    let descriptor: Int32

    init() throws {
        // `mkstemp` replaces the six letters at the end.
        let template = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-sync-XXXXXX").path
        var path = Array(template.utf8CString)
        descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw Self.error("created as '\(template)'") }
        unlink(path)
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8], at offset: Int) throws {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress?.advanced(by: done), bytes.count - done, off_t(offset + done))
            }
            guard count > 0 else { throw Self.error("written") }
            done += count
        }
    }

    func read(_ count: Int, at offset: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress?.advanced(by: done), count - done, off_t(offset + done))
            }
            guard read > 0 else { throw Self.error("read") }
            done += read
        }
        return bytes
    }

    private static func error(_ what: String) -> ByteSpool.FileError {
        ByteSpool.FileError(description: "a temporary file cannot be \(what): \(String(cString: strerror(errno)))")
    }
}
