import Foundation

/// Memory settings for short-lived processes, which release all memory when they exit.
enum Memory {
    /// Configures glibc to reuse freed memory instead of returning it to the system. The system clears each page that
    /// it provides, which takes time.
    ///
    /// The function `mallopt` is looked up by name, because Swift's module of the C library does not export the
    /// function, and other C libraries do not have it.
    static func keepFreedMemory() {
        #if os(Linux)
            guard let address = dlsym(nil, "mallopt") else { return }
            let mallopt = unsafeBitCast(address, to: (@convention(c) (CInt, CInt) -> CInt).self)
            // The numbers of the options are from <malloc.h>: -1 is M_TRIM_THRESHOLD, -2 is M_TOP_PAD, and -3 is
            // M_MMAP_THRESHOLD. Their values are in bytes.
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
