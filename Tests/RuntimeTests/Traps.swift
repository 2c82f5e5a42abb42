import Testing

/// What a trap is expected to have said.
func expectMessage(_ result: ExitTest.Result?, _ text: String, _ location: SourceLocation = #_sourceLocation) {
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("Martlet: "), sourceLocation: location)
    #expect(message.contains(text), sourceLocation: location)
}
