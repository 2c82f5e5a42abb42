import Foundation

/// The description of a value of the program.
///
/// Foundation's description of a date that is NaN stops the program. So does the description of a value that contains
/// such a date. Therefore values that consist of other values are described part by part.
struct ValueDescription: CustomStringConvertible {
    private let value: Any?
    private let isPart: Bool

    init(_ value: Any?) { self.init(value, isPart: false) }

    private init(_ value: Any?, isPart: Bool) {
        self.value = value
        self.isPart = isPart
    }

    var description: String {
        guard let value else { return "nil" }
        if type(of: value) == Date.self, let date = value as? Date { return date.safeDescription }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional: return ValueDescription(mirror.children.first?.value, isPart: isPart).description
        case .collection, .set: return "[\(parts(of: mirror))]"
        case .dictionary: return mirror.children.isEmpty ? "[:]" : "[\(entries(of: mirror))]"
        case .struct, .enum, .tuple:
            if value is any CustomStringConvertible || value is any CustomDebugStringConvertible { return "\(value)" }
            return composite(value, mirror)
        default: return isPart && type(of: value) == String.self ? String(reflecting: value) : "\(value)"
        }
    }

    private func composite(_ value: Any, _ mirror: Mirror) -> String {
        switch mirror.displayStyle {
        case .tuple: return "(\(parts(of: mirror)))"
        case .struct: return "\(type(of: value))(\(parts(of: mirror)))"
        default:
            guard let payload = mirror.children.first else { return "\(value)" }
            let text = ValueDescription(payload.value, isPart: true).description
            let isTuple = Mirror(reflecting: payload.value).displayStyle == .tuple
            return "\(payload.label ?? "")\(isTuple ? text : "(\(text))")"
        }
    }

    private func parts(of mirror: Mirror) -> String {
        mirror.children.map { label, value in
            // The labels of tuples without names begin with a point.
            let name = label.flatMap { $0.hasPrefix(".") ? nil : "\($0): " } ?? ""
            return "\(name)\(ValueDescription(value, isPart: true))"
        }
        .joined(separator: ", ")
    }

    private func entries(of mirror: Mirror) -> String {
        mirror.children.map { entry in
            Mirror(reflecting: entry.value).children.map { "\(ValueDescription($0.value, isPart: true))" }
                .joined(separator: ": ")
        }
        .joined(separator: ", ")
    }
}
