// Output of the tour: chapters, sentences, and results.

func chapter(_ number: Int, _ title: String) { print("\n\(number). \(title)\n") }

func say(_ text: String) { print(text) }

func show(_ text: String) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) { print("    \(line)") }
}

func show(_ values: some Sequence<String>) { show(values.joined(separator: ", ")) }

/// Shows a query and its result.
func show(_ question: String, _ dogs: some Sequence<Dog>) {
    show("\(question)\n    -> \(dogs.map(\.name).joined(separator: ", "))")
}
