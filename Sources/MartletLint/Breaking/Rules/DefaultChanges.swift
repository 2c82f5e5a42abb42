import MartletSchema

/// Finds properties whose initial value in new objects has changed.
struct DefaultChanges: BreakingRule {
    func changes(in schemas: SchemaPair) -> [BreakingChange] {
        schemas.objects.flatMap { pair in
            let ignored = pair.old.ignored.compactMap { old in
                pair.new.ignored.first { $0.name == old.name }.map { (old: old, new: $0) }
            }
            return (pair.properties + ignored).compactMap { change($0.old, $0.new, pair, schemas) }
        }
    }

    private func change(
        _ old: PropertyModel, _ new: PropertyModel, _ pair: ObjectPair, _ schemas: SchemaPair
    ) -> BreakingChange? {
        // `PropertyChanges` reports a changed type.
        guard new.type.isSingle, schemas.current(old.type) == new.type else { return nil }
        let before = initialValue(of: old, in: schemas.old)
        guard before != initialValue(of: new, in: schemas.new) else { return nil }
        return BreakingChange(
            .query, "'\(pair.new.name).\(new.name)' of a new object starts with another value; keep the default",
            at: new.defaultSpan ?? new.typeSpan, was: old.defaultSpan ?? old.typeSpan)
    }

    /// The initial value of a property; nil if it has none. An enum case is represented by its raw value, so that a
    /// renamed case counts as unchanged.
    private func initialValue(of property: PropertyModel, in schema: SchemaModel) -> InitialValue? {
        if case .enumeration(let name, _) = property.type.value {
            guard let model = schema.enumeration(named: name) else { return nil }
            if case .enumCase(let name) = property.defaultValue {
                return model.enumCase(named: name).map { .raw($0.rawValue) }
            }
            return property.type.isOptional ? nil : model.cases.first.map { .raw($0.rawValue) }
        }
        if let value = property.defaultValue { return .value(value) }
        guard !property.type.isOptional, case .scalar(let kind) = property.type.value else { return nil }
        return zero(of: kind).map { .value($0) }
    }

    private enum InitialValue: Equatable {
        case value(DefaultModel)
        case raw(EnumCaseModel.RawValue)
    }

    private func zero(of kind: ScalarKind) -> DefaultModel? {
        switch kind {
        case .bool: .bool(false)
        case .int, .int8, .int16, .int32, .int64: .integer(0)
        case .float, .double: .floating(0)
        case .string: .string("")
        case .data: .data([])
        case .date: .date(0)
        case .uuid: .uuid(Array(repeating: 0, count: 16))
        case .objectId: .objectId(Array(repeating: 0, count: 12))
        case .decimal128: .decimal128("0")
        case .anyValue: nil
        }
    }
}
