import MartletEngine

extension Projection: Encodable {
    /// Encodes what the projection shows under its labels: objects as `ObjectBase.encode(to:)` does, what lies behind a
    /// collection as an array, and what is absent as null.
    ///
    /// - Throws: as `ObjectBase.encode(to:)` does, where a label shows objects.
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

/// A value whose type is known at run time only.
private struct EncodedValue: Encodable {
    let value: Any?

    func encode(to encoder: any Encoder) throws {
        if let elements = value as? [Any?] {
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(EncodedValue(value: element)) }
        } else if let value = UntypedValue.unwrapped(value) as? any Encodable {
            // Its own container, so that the encoder may write it as it is set up to, dates above all.
            var container = encoder.singleValueContainer()
            try container.encode(value)
        } else {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }
}
