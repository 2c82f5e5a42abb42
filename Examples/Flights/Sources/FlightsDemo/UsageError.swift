/// An error in the arguments of the command. The description says how to correct it.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
