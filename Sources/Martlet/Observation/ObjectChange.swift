/// A property that changed.
public struct PropertyChange {
    /// The name of the property, or the label of a projection's property.
    public let name: String
    /// The value at the observer's previous call; nil for collections.
    public let oldValue: Any?
    /// The current value; nil for collections.
    public let newValue: Any?
}

extension PropertyChange: CustomStringConvertible {
    /// The name, the old value and the new value.
    public var description: String { "\(name): \(ValueDescription(oldValue)) → \(ValueDescription(newValue))" }
}

/// A change of an object.
public enum ObjectChange<Observed> {
    case error(any Error)
    /// One entry for each property that changed, in schema order.
    case change(Observed, [PropertyChange])
    case deleted
}
