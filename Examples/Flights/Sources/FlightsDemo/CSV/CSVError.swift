/// An error in a CSV file, with its location.
struct CSVError: Error, CustomStringConvertible {
    let file: String
    /// The first line of the row, counted from 1; nil if the error concerns the whole file.
    let line: Int?
    let message: String

    /// `flights.csv:12: column 'dep_delay': expected a whole number or NA, found 'late'`.
    var description: String { line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)" }
}
