public import Foundation
import MartletEngine
import MartletValues

/// The options of a string comparison.
public struct StringOptions: OptionSet, Sendable {
    /// The bits of the options.
    public let rawValue: Int
    /// Creates options from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Case is ignored: `a` equals `A`.
    public static let caseInsensitive = StringOptions(rawValue: 1)
    /// Diacritics are ignored: `a` equals `ä`.
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

    /// True if the string contains `text`. Every string contains the empty string.
    public func contains(_ text: String, options: StringOptions = []) -> Query<Root> {
        self.text(.contains, text, options)
    }

    /// True if the string begins with `prefix`.
    public func starts(with prefix: String, options: StringOptions = []) -> Query<Root> {
        text(.begins, prefix, options)
    }

    /// True if the string ends with `suffix`.
    public func ends(with suffix: String, options: StringOptions = []) -> Query<Root> { text(.ends, suffix, options) }

    /// True if the string matches a pattern. `?` matches one character, and `*` matches any number of characters. A
    /// backslash escapes `?`, `*` and the backslash.
    public func like(_ pattern: String, caseInsensitive: Bool = false) -> Query<Root> {
        text(.like, pattern, caseInsensitive ? .caseInsensitive : [])
    }

    /// True if the string equals `value`.
    public func equals(_ value: String, options: StringOptions = []) -> Query<Root> { text(.equals, value, options) }

    /// True if the string differs from `value`.
    public func notEquals(_ value: String, options: StringOptions = []) -> Query<Root> {
        text(.equals, value, options).negatedForSomeElement
    }
}

extension Field where Value: TextValue {
    /// True if the text matches a full-text search.
    ///
    /// All words of `search` must occur in the text. A word after `-` must not occur. A word that ends with `*` matches
    /// every word that begins with the characters before `*`. Case and diacritics are ignored.
    ///
    /// Traps if the property is not declared with `fullText: true`.
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

    /// True if the data contains `bytes`. Every value contains empty data.
    public func contains(_ bytes: Data) -> Query<Root> { self.bytes(.contains, bytes) }

    /// True if the data begins with `prefix`.
    public func starts(with prefix: Data) -> Query<Root> { bytes(.begins, prefix) }

    /// True if the data ends with `suffix`.
    public func ends(with suffix: Data) -> Query<Root> { bytes(.ends, suffix) }

    /// True if the data matches a pattern. The byte 0x3F (`?`) matches one byte, and the byte 0x2A (`*`) matches any
    /// number of bytes. The byte 0x5C (a backslash) escapes these three bytes.
    public func like(_ pattern: Data) -> Query<Root> { bytes(.like, pattern) }

    /// True if the data equals `value`.
    public func equals(_ value: Data) -> Query<Root> { bytes(.equals, value) }

    /// True if the data differs from `value`.
    public func notEquals(_ value: Data) -> Query<Root> { bytes(.equals, value).negatedForSomeElement }
}
