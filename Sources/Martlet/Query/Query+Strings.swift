public import Foundation
import MartletEngine
import MartletValues

/// The options of a string comparison.
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

/// A string or an optional string.
public protocol TextValue: PersistableValue {}
extension String: TextValue {}
extension Optional: TextValue where Wrapped == String {}

extension Field where Value: TextValue {
    private func text(_ match: MartletEngine.Predicate.TextMatch, _ pattern: String, _ options: StringOptions) -> Query<
        Root
    > {
        Query(
            .text(
                .path(_path.path), match, .value(.text(pattern)),
                MartletEngine.Predicate.TextOptions(rawValue: Int64(options.rawValue))))
    }

    /// The string contains `text`. Every string contains the empty string.
    public func contains(_ text: String, options: StringOptions = []) -> Query<Root> {
        self.text(.contains, text, options)
    }

    /// The string begins with `prefix`.
    public func starts(with prefix: String, options: StringOptions = []) -> Query<Root> {
        text(.begins, prefix, options)
    }

    /// The string ends with `suffix`.
    public func ends(with suffix: String, options: StringOptions = []) -> Query<Root> { text(.ends, suffix, options) }

    /// The string matches a pattern: `?` matches one character and `*` any number of characters. A backslash escapes
    /// them.
    public func like(_ pattern: String, caseInsensitive: Bool = false) -> Query<Root> {
        text(.like, pattern, caseInsensitive ? .caseInsensitive : [])
    }

    /// The string equals `value`.
    public func equals(_ value: String, options: StringOptions = []) -> Query<Root> { text(.equals, value, options) }

    /// The string differs from `value`.
    public func notEquals(_ value: String, options: StringOptions = []) -> Query<Root> {
        text(.equals, value, options).negatedForSome
    }
}

extension Field where Value: TextValue {
    /// The text matches a full-text search. All words of `search` must occur, except that words after `-` must not
    /// occur. A word that ends with `*` matches any word with that beginning. Case and diacritics are ignored.
    ///
    /// Traps unless the property is declared with `fullText: true`.
    public func matches(_ search: String) -> Query<Root> { Query(.fullText(_path.path, FullTextSearch(search))) }
}

/// Data or optional data.
public protocol BytesValue: PersistableValue {}
extension Data: BytesValue {}
extension Optional: BytesValue where Wrapped == Data {}

extension Field where Value: BytesValue {
    private func bytes(_ match: MartletEngine.Predicate.TextMatch, _ pattern: Data) -> Query<Root> {
        Query(.text(.path(_path.path), match, .value(pattern._compared.raw), []))
    }

    /// The data contains `bytes`. All data contains empty data.
    public func contains(_ bytes: Data) -> Query<Root> { self.bytes(.contains, bytes) }

    /// The data begins with `prefix`.
    public func starts(with prefix: Data) -> Query<Root> { bytes(.begins, prefix) }

    /// The data ends with `suffix`.
    public func ends(with suffix: Data) -> Query<Root> { bytes(.ends, suffix) }

    /// The data matches a pattern: the byte of `?` matches one byte and the byte of `*` any number of bytes.
    public func like(_ pattern: Data) -> Query<Root> { bytes(.like, pattern) }

    /// The data equals `value`.
    public func equals(_ value: Data) -> Query<Root> { bytes(.equals, value) }

    /// The data differs from `value`.
    public func notEquals(_ value: Data) -> Query<Root> { bytes(.equals, value).negatedForSome }
}
