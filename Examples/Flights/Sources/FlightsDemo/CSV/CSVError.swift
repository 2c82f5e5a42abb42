/// What is wrong in a CSV file, and where.
struct CSVError: Error, CustomStringConvertible {
    let file: String
    /// The line the row begins on, counted from 1; nil when the whole file is concerned.
    let line: Int?
    let message: String

    /// `flights.csv:12: column 'dep_delay': expected a whole number or NA, found 'late'`.
    var description: String { line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)" }
}
