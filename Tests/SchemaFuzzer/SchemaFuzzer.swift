import CompilerInvariants
import Glibc

/// Hands what libFuzzer thinks up to the compiler, and ends at the first thing that does not hold: `make fuzz-schema`.
@main
struct SchemaFuzzer {
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(runFuzzer(&count, &arguments, checkOneInput))
    }
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The name that the library is linked against, though it is given the function as well.
@_cdecl("LLVMFuzzerTestOneInput")
public func checkOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let violations = SchemaInvariants.violations(of: Array(UnsafeBufferPointer(start: bytes, count: count)))
    guard violations.isEmpty else {
        for violation in violations.prefix(10) { print("violated: \(violation)") }
        fflush(nil)
        abort()
    }
    return 0
}
