import CompilerInvariants
import Glibc

/// Passes the inputs of libFuzzer to the compiler, and aborts at the first input that violates an invariant. The
/// command `make fuzz-schema` runs this program.
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

/// libFuzzer requires this symbol at link time, although it also gets the function as an argument.
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
