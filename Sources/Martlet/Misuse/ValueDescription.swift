import Foundation

/// The text for a value of any type in a message or a description.
///
/// Foundation's description of a date that is NaN stops the program, even if the date is a part of another value. A
/// value that consists of other values is therefore described part by part.
struct ValueDescription: CustomStringConvertible {
    private let value: Any?
    /// True if the value is a part of another value. Strings are then quoted.
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
            // In a tuple whose elements have no names, the labels begin with a period: `.0`, `.1`.
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
