/// Selects the properties of a row that are written. The first 63 properties are bits of a word, so most masks need no
/// allocation.
package struct PropertyMask: Hashable, Sendable {
    /// The last bit represents all properties from index 63 on.
    @usableFromInline let word: UInt64
    /// The selected properties from index 63 on. This set is used only if the last bit of `word` is set. Nil if all
    /// properties from index 63 on are selected.
    @usableFromInline let highProperties: ColumnSet?

    @inlinable package static var all: PropertyMask { PropertyMask(word: .max) }

    @inlinable package init(word: UInt64, highProperties: ColumnSet? = nil) {
        self.word = word
        self.highProperties = highProperties
    }

    /// The bit of a property in a word.
    @inlinable package static func bit(_ property: PropertyIndex) -> UInt64 { 1 << UInt64(min(property, 63)) }

    /// True for the properties that share the last bit.
    @inlinable package static func isFurther(_ property: PropertyIndex) -> Bool { property >= 63 }

    package var isEmpty: Bool { word == 0 }

    @inlinable @inline(__always) package func contains(_ property: PropertyIndex) -> Bool {
        if word & Self.bit(property) == 0 { return false }
        return !Self.isFurther(property) || highProperties?.contains(property) ?? true
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(word)
        if let highProperties { hasher.combine(highProperties) }
    }
}
