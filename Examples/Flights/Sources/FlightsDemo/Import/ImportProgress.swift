import Foundation

/// Shows the progress of an import. On a terminal this is a progress bar, and otherwise one line for each file.
final class ImportProgress {
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private var started = Date()
    private var lastShown = Date.distantPast
    private var isFirstCallOfFile = true
    private let width = 32

    /// Draws the progress bar if the output is a terminal, at most ten times a second.
    func show(_ what: String, count: Int, fraction: Double) {
        if isFirstCallOfFile {
            isFirstCallOfFile = false
            started = Date()
        }
        guard isTerminal, count % 256 == 0, Date().timeIntervalSince(lastShown) > 0.1 else { return }
        lastShown = Date()
        draw(what, count: count, fraction: fraction)
    }

    func finish(_ what: String, count: Int) {
        let seconds = isFirstCallOfFile ? 0 : Date().timeIntervalSince(started)
        isFirstCallOfFile = true
        lastShown = .distantPast
        if isTerminal {
            draw(what, count: count, fraction: 1)
            print("")
        } else {
            let rate = seconds > 0.2 ? ", \((Int(Double(count) / seconds)).grouped) a second" : ""
            print("  \(what.padded(to: 9)) \(count.grouped.padded(to: 9, left: true))\(rate)")
        }
    }

    private func draw(_ what: String, count: Int, fraction: Double) {
        let filled = Int(fraction * Double(width))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        let percent = "\(Int(fraction * 100))%".padded(to: 4, left: true)
        print("\r  \(what.padded(to: 9)) \(bar) \(percent) \(count.grouped.padded(to: 9, left: true))", terminator: "")
        fflush(nil)
    }
}

extension Int {
    /// The decimal digits of the number, with thousands separators.
    var grouped: String {
        var digits = Array(String(magnitude))
        for index in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: index) }
        return (self < 0 ? "-" : "") + String(digits)
    }
}

extension String {
    func padded(to width: Int, left: Bool = false) -> String {
        let padding = String(repeating: " ", count: Swift.max(0, width - count))
        return left ? padding + self : self + padding
    }
}
