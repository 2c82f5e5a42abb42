import Foundation

/// Memory settings for short-lived processes, which release all memory when they exit.
enum Memory {
    /// Configures glibc to reuse freed memory instead of returning it to the system, because the system clears each
    /// page that it provides.
    ///
    /// `mallopt` is looked up by name, because Swift's module of the C library does not export it and other C libraries
    /// do not have it.
    static func keepFreedMemory() {
        #if os(Linux)
            guard let address = dlsym(nil, "mallopt") else { return }
            let mallopt = unsafeBitCast(address, to: (@convention(c) (CInt, CInt) -> CInt).self)
            // From <malloc.h>: M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD, in bytes.
            for (option, bytes) in [(-1, 1 << 30), (-2, 16 << 20), (-3, 32 << 20)] as [(CInt, CInt)] {
                _ = mallopt(option, bytes)
            }
        #endif
    }

    /// Keeps a value until the process exits, which is faster than deinitializing a large value.
    static func leak<Value>(_ value: Value) { _ = Unmanaged.passRetained(Kept(value)) }

    private final class Kept<Value> {
        let value: Value
        init(_ value: Value) { self.value = value }
    }
}
