import Foundation

extension Date {
    /// The description of the date. Foundation's own description stops the program for a date that is NaN.
    var safeDescription: String { timeIntervalSinceReferenceDate.isNaN ? "nan" : description }
}
