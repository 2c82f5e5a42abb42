/// The answer to a question about the flights, as a JSON value.
enum Answer: Sendable {
    case missing
    case number(Double)
    case text(String)
    case list([Answer])
    case table([String: Answer])

    init(_ number: Int) { self = .number(Double(number)) }
    init(_ number: Int?) { self = number.map { .number(Double($0)) } ?? .missing }
    init(_ number: Double?) { self = number.map { .number($0) } ?? .missing }
    init(_ texts: [String]) { self = .list(texts.map { .text($0) }) }
    init(_ numbers: [Int]) { self = .list(numbers.map { Answer($0) }) }
    init(_ counts: [String: Int]) { self = .table(counts.mapValues { Answer($0) }) }
    init(_ means: [String: Double?]) { self = .table(means.mapValues { Answer($0) }) }

    /// Returns whether the answers are equal. Numbers may differ by a billionth, because the sum of floating-point
    /// values depends on the order of the additions.
    func isApproximatelyEqual(to other: Answer) -> Bool {
        switch (self, other) {
        case (.missing, .missing): true
        case (.number(let a), .number(let b)): abs(a - b) <= 1e-9 * Swift.max(1, abs(a), abs(b))
        case (.text(let a), .text(let b)): a == b
        case (.list(let a), .list(let b)):
            a.count == b.count && zip(a, b).allSatisfy { $0.isApproximatelyEqual(to: $1) }
        case (.table(let a), .table(let b)):
            a.count == b.count
                && a.allSatisfy { key, value in b[key].map { value.isApproximatelyEqual(to: $0) } ?? false }
        default: false
        }
    }
}

extension Answer: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .missing
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([Answer].self) {
            self = .list(list)
        } else {
            self = .table(try container.decode([String: Answer].self))
        }
    }
}

extension Answer: CustomStringConvertible {
    var description: String {
        switch self {
        case .missing: "nothing"
        case .number(let number): number == number.rounded() ? "\(Int(number))" : "\(number)"
        case .text(let text): text
        case .list(let list): "[" + list.map(\.description).joined(separator: ", ") + "]"
        case .table(let table):
            "{" + table.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: ", ") + "}"
        }
    }
}
