import Foundation

extension Date {
    /// The description of the date; `nan` if the date is NaN. Foundation's own description of such a date stops the
    /// program.
    var safeDescription: String { timeIntervalSinceReferenceDate.isNaN ? "nan" : description }
}
