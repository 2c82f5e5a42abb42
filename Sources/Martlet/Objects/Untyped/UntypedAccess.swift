import MartletEngine
import MartletValues

extension ObjectBase {
    final func property(named name: String) -> PropertySchema {
        let schema = _model.schema
        guard let property = schema[name] else {
            Misuse.unknownProperty(name, of: schema.name, known: schema.properties.map(\.name))
        }
        return property
    }

    /// The value of a stored property; nil for linking objects, which are read with `keyedValue`.
    final func untypedValue(_ property: PropertySchema) -> Any? {
        _load(property.index)
        switch property.kind {
        case .list, .set, .map: return RowEncoder.collection(of: self, property.index)
        case .linkingObjects: return nil
        case .single: break
        }
        let image = _image
        if property.isLink {
            if let object = image.objects[property.index] { return object }
            guard case .integer(let key) = image[property.index], let target = property.element.target else {
                return nil
            }
            return _context?.table(named: target)?.object(key)
        }
        if property.isAny {
            let value = image.anyValues[property.index] ?? storedAny(image[property.index])
            return value == .none ? nil : value
        }
        return UntypedValue.swift(image[property.index], property.element)
    }

    /// Assigns an untyped value, with the same effects as an assignment to the typed property.
    final func setUntyped(_ property: PropertySchema, _ value: Any?, _ rules: UntypedAssignment) {
        let value = _convertedValue(value, property)
        if let key = _table?.type.primaryKey, property.index == key, isCurrentValue(value, property) {
            _ = _context?.requireWrite("a '\(_typeName)'", property: property.name)
            return
        }
        if property.isCollection {
            _load(property.index)
            RowEncoder.collection(of: self, property.index)?._assignUntyped(
                value, "\(_typeName).\(property.name)", rules.appending(property, of: self))
            return
        }
        if case .linkingObjects(let type, let origin) = property.kind {
            Misuse.linkingObjectsAssigned("\(_typeName).\(property.name)", origin: "\(type).\(origin)")
        }
        if property.isLink { return setUntypedLink(property, value, rules) }
        if property.isAny {
            guard let value = anyValue(value, rules.appending(property, of: self)) else {
                refuseValue(value, property, rules)
            }
            return setAnyUntyped(property, value, rules.policy)
        }
        guard let stored = UntypedValue.stored(value, property.element, isOptional: property.isOptional) else {
            refuseValue(value, property, rules)
        }
        if property.element.isEnum, stored != .null, let type = RowEncoder.enumeration(of: self, property.index),
            !UntypedValue.isCase(stored, of: type)
        {
            refuseValue(value, property, rules)
        }
        setStored(property.index, stored)
    }

    // Assigning the current value to the primary key is allowed and has no effect.
    private final func isCurrentValue(_ value: Any?, _ property: PropertySchema) -> Bool {
        _load(property.index)
        return UntypedValue.stored(value, property.element, isOptional: property.isOptional)
            == RowEncoder.value(of: self, property.index)
    }

    private final func refuseValue(_ value: Any?, _ property: PropertySchema, _ rules: UntypedAssignment) -> Never {
        let type = property.element.isEnum ? RowEncoder.enumeration(of: self, property.index) : nil
        Misuse.wrongValue(
            value, property: "\(_typeName).\(property.name)",
            expected: type.map { UntypedValue.described($0, isOptional: property.isOptional) }
                ?? "'\(property.typeDescription)'",
            at: rules.path == nil ? nil : rules.appending(property, of: self).path?.text)
    }

    private final func setUntypedLink(_ property: PropertySchema, _ value: Any?, _ rules: UntypedAssignment) {
        guard let value else { return setLinkUntyped(property, nil, rules.policy) }
        let target = property.element.target ?? ""
        guard let model = targetModel(target) else { Misuse.unknownType(target) }
        let refuse: () -> Never = { self.refuseValue(value, property, rules) }
        let inner = rules.appending(property, of: self)
        if property.element.isEmbedded, rules.policy == .modified, let existing = untypedValue(property) as? ObjectBase
        {
            if let object = UntypedValue.instance(value, of: ObjectBase.self), !model.isType(of: object) { refuse() }
            return existing.assignNested(UntypedInput(value, model.schema, at: inner.path), inner)
        }
        let object =
            _context?.object(model, for: value, inner, orRefuse: refuse)
            ?? model.unmanaged(for: value, inner, orRefuse: refuse)
        setLinkUntyped(property, object, rules.policy)
    }

    final func targetModel(_ name: String) -> ModelClass? {
        if let table = _context?.table(named: name) { return table.anyModel }
        return ModelRegistry.classes.map(ModelClass.of).first { $0.schema.name == name }
    }

    private final func setLinkUntyped(_ property: PropertySchema, _ object: ObjectBase?, _ policy: Realm.UpdatePolicy) {
        guard let context = _context else {
            return assign(property.index) { image in
                image.values[property.index] = .null
                image.objects[property.index] = object
            }
        }
        _load(property.index)
        _ = context.requireWrite("a '\(_typeName)'")
        let isOldNeeded = policy == .modified || property.element.isEmbedded
        let old = isOldNeeded ? RowEncoder.value(of: self, property.index) : .null
        guard property.element.isEmbedded else {
            let new: SQLValue = object.map { .integer(context.addIfUnmanaged($0, policy)) } ?? .null
            // With `.modified`, a link to the same object is not a change, even if the program gave a dictionary.
            if policy != .modified || new != old { return setStored(property.index, new) }
            return context.recordAssignment(property.index, of: self)
        }
        let new = object.map { SQLValue.integer(context.addEmbeddedIfUnmanaged($0, policy)) } ?? .null
        context.makingChange { setStored(property.index, new) }
        // The old row is deleted only now, when this object no longer links to it.
        if case .integer(let key) = old, let table = property.element.target.flatMap(context.table(named:)) {
            context.deleteRow(key, table)
        }
    }

    /// Converts an untyped value to an `AnyRealmValue`; nil if the type of the value cannot be stored.
    final func anyValue(_ value: Any?, _ rules: UntypedAssignment) -> AnyRealmValue? {
        AnyRealmValue(untyped: value) { object in
            guard let context = _context else { return object }
            let model = context.model(for: object)
            return context.object(model, for: object, rules) { Misuse.unknownType(object._typeName) }
        }
    }

    private final func setAnyUntyped(
        _ property: PropertySchema, _ value: AnyRealmValue, _ policy: Realm.UpdatePolicy
    ) {
        guard let context = _context else {
            return assign(property.index) { image in
                image.anyValues[property.index] = value
                image.values[property.index] = value._stored.raw
            }
        }
        _load(property.index)
        _ = context.requireWrite("a '\(_typeName)'")
        let new = value.stored(ElementContext(context: context, policy: policy))
        if policy != .modified || new != _image[property.index] { setStored(property.index, new) }
    }

    private final func setStored(_ property: PropertyIndex, _ value: SQLValue) {
        _load(property)
        assign(property) { image in
            image.values[property] = value
            image.objects[property] = nil
            image.anyValues[property] = nil
        }
    }

    // The image is read after observers were called: an observer of an unmanaged object may assign other properties.
    private final func assign(_ property: PropertyIndex, _ edit: (inout RowImage) -> Void) {
        _willSet(property)
        var image = _image
        edit(&image)
        if let table = _table { table.context.requireTargets(image.values[property], table.type.properties[property]) }
        _image = image
        _didSet(property)
    }

    /// Replaces the keys of the embedded objects in a property, without deleting any of these objects.
    final func replaceEmbeddedKeys(_ property: PropertySchema, _ replacement: (ObjectKey) -> ObjectKey) {
        _load(property.index)
        guard property.isCollection else {
            guard case .integer(let key) = _image[property.index] else { return }
            let new = replacement(key)
            if new != key { setStored(property.index, .integer(new)) }
            return
        }
        guard let context = _context, let table = _table else { return }
        let core = context.core(table, property.index, _key)
        for (position, element) in core.all().enumerated() {
            guard case .integer(let key) = element else { continue }
            let new = replacement(key)
            if new != key { core.replace(at: position, with: .integer(new), deletesReplaced: false) }
        }
    }

    /// Removes the links to embedded objects from a property, without deleting the objects.
    final func releaseEmbedded(_ property: PropertySchema, where isReleased: (ObjectKey) -> Bool = { _ in true }) {
        func isReleasedKey(_ value: SQLValue) -> Bool {
            if case .integer(let key) = value { isReleased(key) } else { false }
        }
        _load(property.index)
        guard property.isCollection else {
            if isReleasedKey(_image[property.index]) { setStored(property.index, .null) }
            return
        }
        guard let context = _context, let table = _table else { return }
        let core = context.core(table, property.index, _key)
        core.removeLinks(to: Set(core.all().filter { isReleasedKey($0) }))
    }

    /// Copies the value of a property from this unmanaged object to `target`, a managed object of the same class.
    final func copyProperty(_ property: PropertySchema, to target: ObjectBase, _ policy: Realm.UpdatePolicy) {
        switch property.kind {
        case .linkingObjects: return
        case .list, .set, .map:
            guard let mine = RowEncoder.collection(of: self, property.index) else { return }
            RowEncoder.collection(of: target, property.index)?._assignElements(of: mine, policy)
        case .single:
            if property.isLink {
                copyLink(property, to: target, policy)
            } else if property.isAny {
                copyAny(property, to: target, policy)
            } else {
                target.setStored(property.index, _image[property.index])
            }
        }
    }

    private final func copyAny(_ property: PropertySchema, to target: ObjectBase, _ policy: Realm.UpdatePolicy) {
        guard let context = target._context else { return }
        let image = _image
        let elementContext = ElementContext(context: context, policy: policy)
        let new = image.anyValues[property.index]?.stored(elementContext) ?? image[property.index]
        target._load(property.index)
        if policy == .all || new != target._image[property.index] { target.setStored(property.index, new) }
    }

    private final func copyLink(_ property: PropertySchema, to target: ObjectBase, _ policy: Realm.UpdatePolicy) {
        guard let context = target._context else { return }
        target._load(property.index)
        let image = _image
        let object = image.objects[property.index]
        let old = RowEncoder.values(of: target)[property.index]
        guard property.element.isEmbedded else {
            let new: SQLValue = object.map { .integer(context.addIfUnmanaged($0, policy)) } ?? image[property.index]
            if policy == .all || new != old { return target.setStored(property.index, new) }
            return context.recordAssignment(property.index, of: target)
        }
        if policy == .modified, let object, case .integer(let key) = old, let table = object._model.table(in: context) {
            if object._state != .unmanaged { Misuse.embeddedOwned(object._typeName) }
            context.updateEmbedded(key, from: object, policy, table)
        } else if object != nil || old != .null || policy == .all {
            target.setLinkUntyped(property, object, policy)
        }
    }
}

extension ModelClass {
    func table(in context: RealmContext) -> ObjectTable? { context.table(named: schema.name) }
}
