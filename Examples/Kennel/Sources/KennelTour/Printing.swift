// Functions that print the output of the tour: the titles of chapters, sentences, and results.

func chapter(_ number: Int, _ title: String) { print("\n\(number). \(title)\n") }

func say(_ text: String) { print(text) }

func show(_ text: String) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) { print("    \(line)") }
}

func show(_ values: some Sequence<String>) { show(values.joined(separator: ", ")) }

/// Prints a query and the names of the dogs that it finds.
func show(_ question: String, _ dogs: some Sequence<Dog>) {
    show("\(question)\n    -> \(dogs.map(\.name).joined(separator: ", "))")
}
