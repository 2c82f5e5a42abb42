import MartletSQLite
import MartletValues

/// Converts the values of a property in the file to the type of the property that replaces it.
struct PropertyConverter {
    /// The property in the file. If it is a link, its target type is given by the current name of that type.
    let old: PropertySchema
    let new: PropertySchema
    private let isValidRawValue: (SQLValue) -> Bool

    init(_ old: PropertySchema, _ new: PropertySchema, _ declaration: TypeDeclaration?) {
        self.old = old
        self.new = new
        isValidRawValue = { declaration?.isValidRawValue(new.index, $0) ?? true }
    }

    /// True if all values can be copied without conversion or checks.
    var isIdentity: Bool {
        old.kind == new.kind && old.element == new.element && (new.isOptional || !old.isOptional || new.isLink)
    }

    /// Returns the elements to write, including the keys of maps. Returns nil if the old elements cannot be converted.
    ///
    /// A single value is one element. `.null` for a required property represents its default.
    func convert(_ elements: [SQLValue]) -> [SQLValue]? {
        switch (old.kind, new.kind) {
        case (.map, .map): return map(elements)
        case (.map, _), (_, .map): return hasNoValue(elements) ? elementsWithoutValue : nil
        case (.single, .single): return single(elements.first ?? .null).map { [$0] }
        case (.single, _): return hasNoValue(elements) ? [] : all(elements)
        case (_, .single):
            return elements.count > 1 ? nil : single(elements.first ?? .null).map { [$0] }
        case (_, .set):
            guard let converted = all(elements) else { return nil }
            return Set(converted.map(identity)).count == converted.count ? converted : nil
        default: return all(elements)
        }
    }

    // Returns equal results for values that a set considers equal. A set can contain only one of several equal values.
    private func identity(of value: SQLValue) -> SQLValue {
        if new.isAny { return AnyValue.sortKey(value) }
        guard new.element.isFloating, case .real(let number) = FloatingSpecials.decodedElement(value) else {
            return value
        }
        return number.isNaN ? .text("nan") : .real(number == 0 ? 0 : number)
    }

    private var elementsWithoutValue: [SQLValue] { new.kind == .single ? [.null] : [] }

    private func hasNoValue(_ elements: [SQLValue]) -> Bool {
        elements.isEmpty || (old.kind == .single && elements == [.null])
    }

    private func single(_ value: SQLValue) -> SQLValue? {
        guard let converted = ValueConversion.convert(value, from: old.element, to: new.element) else { return nil }
        return converted == .null || hasCase(converted) ? converted : nil
    }

    private func element(_ value: SQLValue) -> SQLValue? {
        guard value != .null else { return new.isOptional || new.isLink ? .null : nil }
        return single(value)
    }

    private func hasCase(_ value: SQLValue) -> Bool {
        guard old.element != new.element, new.element == .intEnum || new.element == .stringEnum else { return true }
        return isValidRawValue(value)
    }

    private func all(_ elements: [SQLValue]) -> [SQLValue]? {
        let converted = elements.compactMap(element)
        return converted.count == elements.count ? converted : nil
    }

    private func map(_ elements: [SQLValue]) -> [SQLValue]? {
        var converted: [SQLValue] = []
        for position in stride(from: 0, to: elements.count - 1, by: 2) {
            guard let value = element(elements[position + 1]) else { return nil }
            converted += [elements[position], value]
        }
        return converted
    }
}
