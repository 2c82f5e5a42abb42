import MartletValues

/// A set of properties of one type. The last member represents all properties from index 31 on.
// The functions are called for each row and each read, so they are inlinable. The generic functions of `OptionSet` are
// slower.
package struct LoadedProperties: Hashable, Sendable {
    @usableFromInline package private(set) var word: UInt32

    @inlinable init(word: UInt32) { self.word = word }

    @inlinable package static var none: LoadedProperties { LoadedProperties(word: 0) }

    @inlinable package static var all: LoadedProperties { LoadedProperties(word: .max) }

    @inlinable package var isEmpty: Bool { word == 0 }

    @inlinable package func contains(_ property: PropertyIndex) -> Bool { word & Self.bit(property) != 0 }

    @inlinable package mutating func insert(_ property: PropertyIndex) { word |= Self.bit(property) }

    @inlinable package func union(_ other: LoadedProperties) -> LoadedProperties {
        LoadedProperties(word: word | other.word)
    }

    @inlinable package func intersection(_ other: LoadedProperties) -> LoadedProperties {
        LoadedProperties(word: word & other.word)
    }

    @inlinable package func subtracting(_ other: LoadedProperties) -> LoadedProperties {
        LoadedProperties(word: word & ~other.word)
    }

    @inlinable package static func bit(_ property: PropertyIndex) -> UInt32 { 1 << UInt32(min(property, 31)) }
}

/// The columns that a statement reads from the rows of one type.
package final class RowSelection: Sendable {
    /// The properties whose columns the statement reads.
    package let properties: LoadedProperties
    /// True if the statement reads the columns of all properties.
    package let isWhole: Bool
    /// The position of the bits of special floating-point values. Nil if the statement reads no floating-point column.
    package let specialsPosition: Int?
    /// The position of the key.
    package let keyPosition: Int
    let selectByKey: String
    let selectRange: String

    /// The columns of all properties, in the order of `TableLayout.rowColumns`.
    init(_ layout: TableLayout) {
        properties = .all
        isWhole = true
        specialsPosition = layout.hasSpecials ? layout.columns.count : nil
        keyPosition = layout.columns.count + (layout.hasSpecials ? 1 : 0)
        selectByKey = layout.selectByKey
        selectRange = layout.selectRange
    }

    /// The columns of some properties, in the order of the schema, then `_special` if one of them is a floating-point
    /// column, then the key.
    init(_ properties: LoadedProperties, _ layout: TableLayout, _ type: ObjectTypeSchema) {
        self.properties = properties
        isWhole = false
        let columns = layout.columns.filter { properties.contains($0.property) }
        let hasSpecials = columns.contains { type.properties[$0.property].element.isFloating }
        var names = columns.map(\.name)
        if hasSpecials { names.append(TableLayout.specialColumn) }
        specialsPosition = hasSpecials ? columns.count : nil
        keyPosition = names.count
        names.append(layout.keyColumn)
        selectByKey = layout.selectByKey(names)
        selectRange = layout.selectRange(names)
    }
}

extension RowStore {
    /// The columns of some properties; all columns if reading all costs little more.
    package func selection(_ properties: LoadedProperties) -> RowSelection {
        if let known = selections[properties] { return known }
        let count = layout.columns.count { properties.contains($0.property) }
        let made =
            count * 4 > layout.columns.count * 3 ? wholeRow : RowSelection(properties, layout, type)
        if selections.count >= 256 { selections = [:] }
        selections[properties] = made
        return made
    }
}
