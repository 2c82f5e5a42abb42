import Testing

/// Expects that the program was stopped with a message of the library that contains `text`.
func expectMessage(_ result: ExitTest.Result?, _ text: String, _ location: SourceLocation = #_sourceLocation) {
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("Martlet: "), sourceLocation: location)
    #expect(message.contains(text), sourceLocation: location)
}
