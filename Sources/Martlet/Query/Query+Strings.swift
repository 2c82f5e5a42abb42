import MartletEngine
import MartletSQLite

/// How strings are compared.
public struct StringOptions: OptionSet, Sendable {
    /// The bits of the options.
    public let rawValue: Int
    /// Options from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// `a` equals `A`.
    public static let caseInsensitive = StringOptions(rawValue: 1)
    /// `a` equals `ä`.
    public static let diacriticInsensitive = StringOptions(rawValue: 2)
}

/// Strings, optional or not.
public protocol TextValue: PersistableValue {}
extension String: TextValue {}
extension Optional: TextValue where Wrapped == String {}

extension Field where Value: TextValue {
    private func text(_ match: Predicate.TextMatch, _ pattern: String, _ options: StringOptions) -> Query<Root> {
        Query(.text(.path(_path.path), match, .text(pattern), Predicate.TextOptions(rawValue: Int64(options.rawValue))))
    }

    /// The string contains `text`. The empty string is contained in every string.
    public func contains(_ text: String, options: StringOptions = []) -> Query<Root> {
        self.text(.contains, text, options)
    }

    /// The string begins with `prefix`.
    public func starts(with prefix: String, options: StringOptions = []) -> Query<Root> {
        text(.begins, prefix, options)
    }

    /// The string ends with `suffix`.
    public func ends(with suffix: String, options: StringOptions = []) -> Query<Root> { text(.ends, suffix, options) }

    /// The string fits a pattern in which `?` stands for one character and `*` for any number.
    public func like(_ pattern: String, caseInsensitive: Bool = false) -> Query<Root> {
        text(.like, pattern, caseInsensitive ? .caseInsensitive : [])
    }

    /// The string equals `value`.
    public func equals(_ value: String, options: StringOptions = []) -> Query<Root> { text(.equals, value, options) }

    /// The string differs from `value`.
    public func notEquals(_ value: String, options: StringOptions = []) -> Query<Root> {
        !text(.equals, value, options)
    }
}
