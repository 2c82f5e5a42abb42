import Foundation

/// A row of a CSV file. Each method reads the field of a column as a value of one type. The text `NA` represents a
/// missing value.
struct CSVRow {
    let file: String
    /// The first line of the row in the file, counted from 1.
    let line: Int
    let bytes: Data
    let fields: [CSVField]

    func string(_ column: CSVColumn) throws -> String {
        guard let value = optionalString(column), !value.isEmpty else { throw error(column, "a text") }
        return value
    }

    func optionalString(_ column: CSVColumn) -> String? {
        isMissing(column) ? nil : text(column)
    }

    func int<Number: FixedWidthInteger>(_ column: CSVColumn, as type: Number.Type = Int.self) throws -> Number {
        guard let value = Number(text(column)) else { throw error(column, "a whole number") }
        return value
    }

    func optionalInt(_ column: CSVColumn) throws -> Int? {
        if isMissing(column) { return nil }
        guard let value = Int(text(column)) else { throw error(column, "a whole number or NA") }
        return value
    }

    func double(_ column: CSVColumn) throws -> Double {
        guard let value = Double(text(column)), value.isFinite else { throw error(column, "a number") }
        return value
    }

    func optionalDouble(_ column: CSVColumn) throws -> Double? {
        if isMissing(column) { return nil }
        guard let value = Double(text(column)), value.isFinite else { throw error(column, "a number or NA") }
        return value
    }

    /// Returns the field as a time. The field contains a time such as 2013-01-01T10:00:00Z.
    func date(_ column: CSVColumn) throws -> Date {
        guard let date = UniversalTime.date(from: text(column)) else {
            throw error(column, "a time such as 2013-01-01T10:00:00Z")
        }
        return date
    }

    /// Returns the error for a field that does not have the expected form.
    func error(_ column: CSVColumn, _ expected: String) -> CSVError {
        CSVError(
            file: file, line: line,
            message: "column '\(column.name)': expected \(expected), found '\(text(column).prefix(60))'")
    }

    private func text(_ column: CSVColumn) -> String {
        bytes.withUnsafeBytes { fields[column.index].text(in: $0) }
    }

    private func isMissing(_ column: CSVColumn) -> Bool {
        let field = fields[column.index]
        guard field.end - field.start == 2 else { return false }
        return bytes[field.start] == UInt8(ascii: "N") && bytes[field.start + 1] == UInt8(ascii: "A")
    }
}
