import MartletSchema

/// Finds changes of the order of properties. The parameters of an initializer have this order. `create` accepts arrays
/// of values in this order.
struct OrderChanges: BreakingRule {
    func changes(in schemas: SchemaPair) -> [BreakingChange] {
        schemas.objects.compactMap { movedProperty($0) ?? insertedProperty($0) }
    }

    private func movedProperty(_ pair: ObjectPair) -> BreakingChange? {
        let before = stored(pair.old).map(\.name)
        let positions = Dictionary(zip(before, before.indices)) { first, _ in first }
        var highest = -1
        for property in pair.properties where !property.new.type.isLinkingObjects {
            guard let position = positions[property.old.name] else { continue }
            guard position > highest else {
                return BreakingChange(
                    .source,
                    "property '\(pair.new.name).\(property.new.name)' was moved down, and the "
                        + "initializer takes its arguments in this order; move it back",
                    at: property.new.nameSpan, was: property.old.nameSpan)
            }
            highest = position
        }
        return nil
    }

    private func insertedProperty(_ pair: ObjectPair) -> BreakingChange? {
        let added = Set(pair.addedProperties.map(\.name))
        let properties = stored(pair.new)
        guard let last = properties.lastIndex(where: { !added.contains($0.name) }),
            let new = properties[..<last].first(where: { added.contains($0.name) })
        else { return nil }
        return BreakingChange(
            .query,
            "property '\(pair.new.name).\(new.name)' was added before others, and 'create' takes the values of an array "
                + "in this order; move it to the end",
            at: new.nameSpan)
    }

    private func stored(_ object: ObjectModel) -> [PropertyModel] {
        object.properties.filter { !$0.type.isLinkingObjects }
    }
}
