import MartletEngine

extension Projection: Encodable {
    /// Encodes the values of the projection under its labels.
    ///
    /// Objects are encoded by `ObjectBase.encode(to:)`. Values that are reached through a collection are encoded as an
    /// array, and absent values as null.
    ///
    /// - Throws: the errors of `ObjectBase.encode(to:)` if a label refers to objects.
    public final func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PropertyKey.self)
        for label in ProjectionLabels(type(of: self)).all {
            let value = EncodedValue(value: rootObject.value(forKeyPath: label.path.text))
            try container.encode(value, forKey: PropertyKey(label.name))
        }
    }
}

extension ProjectedResults: Encodable where Element: Encodable {
    /// Encodes the projections in order.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for projection in self { try container.encode(projection) }
    }
}

/// A value whose type is known only at run time.
private struct EncodedValue: Encodable {
    let value: Any?

    func encode(to encoder: any Encoder) throws {
        if let elements = value as? [Any?] {
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(EncodedValue(value: element)) }
        } else if let value = UntypedValue.unwrapped(value) as? any Encodable {
            // The container encodes the value, so that the strategies of the encoder apply, for example to dates.
            var container = encoder.singleValueContainer()
            try container.encode(value)
        } else {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }
}
