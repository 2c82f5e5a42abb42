import Foundation

/// Memory of a process that ends soon and gives all of it back then.
enum Memory {
    /// Asks glibc to keep what is freed for what is needed next: the system clears each page that it hands out.
    ///
    /// Looked up by name, since Swift's module of the C library does not have it and others than glibc need none of it.
    static func keep() {
        #if os(Linux)
            guard let address = dlsym(nil, "mallopt") else { return }
            let mallopt = unsafeBitCast(address, to: (@convention(c) (CInt, CInt) -> CInt).self)
            // From <malloc.h>: M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD, in bytes.
            for (option, bytes) in [(-1, 1 << 30), (-2, 16 << 20), (-3, 32 << 20)] as [(CInt, CInt)] {
                _ = mallopt(option, bytes)
            }
        #endif
    }

    /// Leaves a value to the end of the process, which is faster than taking apart a large one.
    static func leave<Value>(_ value: Value) { _ = Unmanaged.passRetained(Kept(value)) }

    private final class Kept<Value> {
        let value: Value
        init(_ value: Value) { self.value = value }
    }
}
