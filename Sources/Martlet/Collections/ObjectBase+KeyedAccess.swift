import MartletEngine

// Access to properties by name.
extension ObjectBase {
    /// The value of the property with the given name: a Swift value, an object, a collection, or nil.
    ///
    /// Enum properties return raw values. Linking objects return live `LinkingObjects`. `AnyRealmValue` properties
    /// return the value inside, as in `note["content"] as? Int`. Traps if there is no property of this name.
    public final func value(forKey name: String) -> Any? {
        UntypedValue.contents(of: keyedValue(property(named: name)))
    }

    /// Sets the property with the given name. Traps if the name is unknown or the value does not fit the property.
    ///
    /// Values are converted: strings to `UUID`, `ObjectId` and `Decimal128`, numbers to `Decimal128`, 0 and 1 to
    /// `Bool`, and raw values to enum cases. An optional enum becomes nil if no case has the raw value.
    public final func setValue(_ value: Any?, forKey name: String) {
        let property = property(named: name)
        setUntyped(property, isWithoutCase(value, property) ? nil : value, .single)
    }

    /// Reads or sets the property with the given name, as `value(forKey:)` and `setValue(_:forKey:)` do.
    public final subscript(name: String) -> Any? {
        get { value(forKey: name) }
        set { setValue(newValue, forKey: name) }
    }

    /// The value of a property. For linking objects, this is a live collection; `untypedValue` returns nil for them.
    final func keyedValue(_ property: PropertySchema) -> Any? {
        if case .linkingObjects = property.kind { return untypedLinkingObjects(property) }
        return untypedValue(property)
    }

    private final func isWithoutCase(_ value: Any?, _ property: PropertySchema) -> Bool {
        guard property.isOptional, property.kind == .single, let value = UntypedValue.unwrapped(value),
            let type = RowEncoder.enumeration(of: self, property.index),
            let stored = UntypedValue.stored(value, property.element, isOptional: true)
        else { return false }
        return !UntypedValue.isCase(stored, of: type)
    }
}
