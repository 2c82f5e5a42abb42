import MartletEngine

extension RealmContext {
    /// Creates and adds an object from a dictionary, an array in schema order, or another object of its type. If
    /// `policy` allows updates and an object with the same primary key exists, this method updates the existing object.
    /// The input may be nested to any depth.
    ///
    /// If the object is embedded, the caller must assign it to its owner next. `addEmbeddedIfUnmanaged` accepts the
    /// object, because `additions.ownerless` contains it.
    func create(
        _ model: ModelClass, _ value: Any, _ policy: Realm.UpdatePolicy, at path: UntypedPath? = nil,
        _ deferred: DeferredAssignments? = nil
    ) -> ObjectBase {
        let table = table(model)
        _ = requireWrite("a '\(table.type.name)'")
        let value = UntypedValue.unwrapped(value) ?? value
        let source = UntypedValue.instance(value, of: ObjectBase.self)
        let deferred = deferred ?? DeferredAssignments()
        if let source, let known = deferred.copies[ObjectIdentifier(source)] { return known.copy }
        let rules = UntypedAssignment(policy: policy, copiesObjects: true, path: path, deferred: deferred)
        let input = UntypedInput(value, model.schema, at: path)
        let existing = existing(model, input, policy)
        let object = existing ?? model.make()
        // The copy is registered before its values are assigned. If links between the originals form a cycle, the links
        // between the copies then form a cycle, too.
        if let source { deferred.copies.append(ObjectIdentifier(source), (source, object)) }
        defer { if source != nil { deferred.copies.removeLast() } }
        if existing == nil {
            object.assign(input, rules) { !$0.mayContainObjects }
            _ = add(object, .error)
            if model.schema.isEmbedded { additions.ownerless.insert(ObjectIdentifier(object)) }
            // Deferred values of earlier inputs may belong to the same object. If there are deferred values, all values
            // of this input are assigned a second time, after the values of the earlier inputs.
            let repeats = policy != .error && deferred.areEarlierValuesPending
            object.assignNested(input, rules) { repeats || $0.mayContainObjects }
        } else {
            object.assignNested(input, rules)
        }
        return object
    }

    /// Deletes the embedded objects among `objects` that `create` has created for an owner that no longer exists.
    func deleteOwnerless(_ objects: some Sequence<ObjectBase>) {
        for object in objects where additions.ownerless.remove(ObjectIdentifier(object)) != nil {
            if let table = object._table { deleteRow(object._key, table) }
        }
    }

    /// The existing object with the primary key in the input; nil if there is none, or if the policy does not allow
    /// updates.
    private func existing(_ model: ModelClass, _ input: UntypedInput, _ policy: Realm.UpdatePolicy) -> ObjectBase? {
        guard policy != .error, let index = model.schema.primaryKey else { return nil }
        let property = model.schema.properties[index]
        guard let given = input.value(of: property),
            let stored = UntypedValue.stored(
                UntypedValue.unwrapped(given), property.element, isOptional: property.isOptional)
        else { return nil }
        let table = table(model)
        return key(primaryKey: stored, table).map { table.object($0) }
    }

    /// The link target for an untyped value: the object in the value, a copy of it, or an object with the values in a
    /// dictionary or array.
    ///
    /// - Parameter refuse: called if the value is an object of another type. It stops the program.
    func object(_ model: ModelClass, for value: Any, _ rules: UntypedAssignment, orRefuse refuse: () -> Never)
        -> ObjectBase
    {
        guard let object = UntypedValue.instance(value, of: ObjectBase.self) else {
            return create(model, value, rules.policy, at: rules.path, rules.deferred)
        }
        if !model.isType(of: object) { refuse() }
        if !rules.copiesObjects {
            if object._context === self || object._model === model { return object }
            // A migration does not refuse an object of another Realm. Instead, it creates an object with the same
            // values.
            if object._state != .unmanaged && !access.isOfMigration { self.refuse(foreign: object) }
        } else if object._context === self && !model.schema.isEmbedded {
            return object
        }
        return create(model, object, rules.policy, at: rules.path, rules.deferred)
    }

    /// The model of an object's type in this Realm. The model is found by the name of the type, because objects of a
    /// migration have no generated class.
    func model(for object: ObjectBase) -> ModelClass { table(named: object._typeName)?.anyModel ?? object._model }
}

extension ModelClass {
    /// True for objects of this type, independent of their class.
    func isType(of object: ObjectBase) -> Bool {
        let model = object._model
        return model === self || model.schema.name == schema.name
    }

    /// An unmanaged object with the given values, and default values for all other properties.
    private func unmanaged(_ value: Any, _ rules: UntypedAssignment) -> ObjectBase {
        let object = metatype.init()
        object.assignNested(UntypedInput(value, schema, at: rules.path), rules)
        return object
    }

    /// Converts an untyped value to the object to which a link of an unmanaged object refers: the object in the value,
    /// or a new object.
    func unmanaged(for value: Any, _ rules: UntypedAssignment, orRefuse refuse: () -> Never) -> ObjectBase {
        guard let object = UntypedValue.instance(value, of: ObjectBase.self) else { return unmanaged(value, rules) }
        if !isType(of: object) { refuse() }
        guard object._model === self else { return unmanaged(object, rules) }
        return schema.isEmbedded && object._state != .unmanaged ? unmanaged(object, rules) : object
    }
}

extension PropertySchema {
    /// True if the value may contain objects, which are added to the Realm of the owner.
    fileprivate var mayContainObjects: Bool { isLink || isCollection || isAny }
}

extension ObjectBase {
    /// Assigns the values of a dictionary, an array or another object, which may contain objects to any depth.
    final func assignNested(
        _ input: UntypedInput, _ rules: UntypedAssignment,
        where isWanted: @escaping (PropertySchema) -> Bool = { _ in true }
    ) {
        let deferred = rules.deferred ?? DeferredAssignments()
        deferred.assign(input, to: self, rules.with(deferred), where: isWanted)
    }

    /// Assigns the values of a dictionary, an array or another object.
    final func assign(
        _ input: UntypedInput, _ rules: UntypedAssignment, where isWanted: (PropertySchema) -> Bool = { _ in true }
    ) {
        let schema = _model.schema
        let isUpdate = _state != .unmanaged && rules.policy != .error
        let input = isUpdate ? input.copyingEmbedded(schema) : input
        for property in schema.properties where isWanted(property) {
            if case .linkingObjects = property.kind { continue }
            guard let given = input.value(of: property) else { continue }
            if _state != .unmanaged && property.index == schema.primaryKey { continue }
            if rules.policy == .modified, _state != .unmanaged, hasValue(property, given) {
                _context?.recordAssignment(property.index, of: self)
                continue
            }
            setUntyped(property, given, rules)
        }
    }

    // True if the property already has this value or link.
    private final func hasValue(_ property: PropertySchema, _ given: Any?) -> Bool {
        if property.isCollection { return false }
        let given = UntypedValue.unwrapped(given)
        if property.isLink {
            let current = untypedValue(property) as? ObjectBase
            guard let given else { return current == nil }
            return UntypedValue.instance(given, of: ObjectBase.self).map { current?.isSameObject(as: $0) ?? false }
                ?? false
        }
        _load(property.index)
        if property.isAny {
            let value = AnyRealmValue(untyped: given) { $0 }
            return value.map { value in
                value.objects.allSatisfy { $0._context === _context }
                    && value._stored.raw == RowEncoder.values(of: self)[property.index]
            } ?? false
        }
        let stored = UntypedValue.stored(given, property.element, isOptional: property.isOptional)
        return stored == RowEncoder.values(of: self)[property.index]
    }
}

/// Untyped values for the properties of an object: by name, by position, or from another object.
struct UntypedInput {
    private var dictionary: [String: Any]?
    private var array: [Any]?
    private let object: ObjectBase?
    /// The indices of the properties to which the elements of an array belong. Linking objects are not included.
    private let positions: [Int]

    init(_ value: Any, _ schema: ObjectTypeSchema, at path: UntypedPath? = nil) {
        let value = UntypedValue.unwrapped(value) ?? value
        dictionary = value as? [String: Any]
        array = dictionary == nil ? value as? [Any] : nil
        object = UntypedValue.instance(value, of: ObjectBase.self)
        positions = array == nil ? [] : schema.properties.filter { $0.isColumn || $0.isCollection }.map(\.index)
        if let array, array.count > positions.count {
            Misuse.wrongValue(
                array, property: schema.name,
                expected: "an array of at most \(positions.count) values, one for each stored property", at: path?.text)
        }
        let isOfType = object.map { $0._typeName == schema.name } ?? false
        if dictionary == nil && array == nil && !isOfType {
            Misuse.wrongValue(
                value, property: schema.name,
                expected: "a dictionary, an array in schema order, or an object of its type", at: path?.text)
        }
    }

    /// The value of a property: nil if the input does not contain the property, `.some(nil)` if the input contains nil
    /// for the property.
    func value(of property: PropertySchema) -> Any?? {
        if let dictionary { return dictionary[property.name].map { .some($0) } }
        if let array {
            guard let position = positions.firstIndex(of: property.index), position < array.count else { return nil }
            return .some(array[position])
        }
        if let object, let own = object._model.schema[property.name] { return .some(object.untypedValue(own)) }
        return nil
    }

    /// A copy of this input in which unmanaged copies replace the embedded objects that are stored in a Realm. Without
    /// copies, assigning one property could change or delete an embedded object that is also the value of another
    /// property.
    func copyingEmbedded(_ schema: ObjectTypeSchema) -> UntypedInput {
        var input = self
        for property in schema.properties where property.element.isEmbedded {
            if let dictionary {
                if let copy = dictionary[property.name].flatMap(EmbeddedCopies.copied) {
                    input.dictionary?[property.name] = copy
                }
            } else if let array, let position = positions.firstIndex(of: property.index), position < array.count {
                if let copy = EmbeddedCopies.copied(array[position]) { input.array?[position] = copy }
            }
        }
        return input
    }
}
