import MartletEngine
import MartletSQLite

extension ObjectBase {
    /// The value of a property by name: a Swift value, an object, a collection, or nil.
    ///
    /// Traps on a name that the type does not have. Enum properties give their raw values.
    public final func value(forKey name: String) -> Any? { untypedValue(property(named: name)) }

    /// Sets a property by name. Traps on an unknown name and on a value that does not fit.
    public final func setValue(_ value: Any?, forKey name: String) {
        setUntyped(property(named: name), value, .error)
    }

    /// A property by name, as `value(forKey:)` and `setValue(_:forKey:)` do.
    public final subscript(name: String) -> Any? {
        get { value(forKey: name) }
        set { setValue(newValue, forKey: name) }
    }

    final func property(named name: String) -> PropertySchema {
        let schema = _model.schema
        guard let property = schema[name] else {
            Misuse.unknownProperty(name, of: schema.name, known: schema.properties.map(\.name))
        }
        return property
    }

    final func untypedValue(_ property: PropertySchema) -> Any? {
        _load(property.index)
        switch property.kind {
        case .list, .set, .map: return RowEncoder.collection(of: self, property.index)
        case .linkingObjects: return untypedLinkingObjects(property)
        case .single: break
        }
        let image = RowEncoder.image(of: self)
        if property.isLink {
            if let object = image.objects[property.index] { return object }
            guard case .integer(let key) = image[property.index], let target = property.element.target else { return nil }
            return _context?.table(named: target)?.object(key)
        }
        return UntypedValue.swift(image[property.index], property.element)
    }

    /// Assigns an untyped value, with all that an assignment to the typed property does.
    final func setUntyped(_ property: PropertySchema, _ value: Any?, _ policy: Realm.UpdatePolicy) {
        let value = UntypedValue.unwrapped(value)
        if property.isCollection {
            RowEncoder.collection(of: self, property.index)?._assignUntyped(value, property.name, policy)
            return
        }
        if case .linkingObjects = property.kind {
            Misuse.wrongValue(value, property: property.name, expected: "nothing: it is computed from links")
        }
        if property.isLink { return setUntypedLink(property, value, policy) }
        guard let stored = UntypedValue.stored(value, property.element, isOptional: property.isOptional) else {
            Misuse.wrongValue(value, property: "\(_typeName).\(property.name)", expected: "'\(property.typeDescription)'")
        }
        setStored(property.index, stored)
    }

    private final func setUntypedLink(_ property: PropertySchema, _ value: Any?, _ policy: Realm.UpdatePolicy) {
        let target = property.element.target ?? ""
        guard let value else { return setLinkUntyped(property, nil, policy) }
        let object: ObjectBase
        if let given = value as? ObjectBase {
            object = given
        } else {
            guard let model = targetModel(target) else { Misuse.unknownType(target) }
            if property.element.isEmbedded, policy == .modified, let existing = untypedValue(property) as? ObjectBase {
                existing.assign(value, policy)
                return
            }
            object = _context.map { $0.create(model, value, policy, isEmbedded: property.element.isEmbedded) } ?? model.unmanaged(value)
        }
        guard object._model.schema.name == target else {
            Misuse.wrongValue(value, property: "\(_typeName).\(property.name)", expected: "a '\(target)'")
        }
        setLinkUntyped(property, object, policy)
    }

    final func targetModel(_ name: String) -> ModelClass? {
        if let model = _context?.table(named: name)?.model { return model }
        return ModelRegistry.classes.map(ModelClass.of).first { $0.schema.name == name }
    }

    private final func setLinkUntyped(_ property: PropertySchema, _ object: ObjectBase?, _ policy: Realm.UpdatePolicy) {
        guard let context = _context else {
            var image = RowEncoder.image(of: self)
            image.values[property.index] = .null
            image.objects[property.index] = object
            return decode(image, property.index)
        }
        if property.element.isEmbedded {
            if let object, object._state != .unmanaged { Misuse.embeddedOwned(object._typeName) }
            _ = context.requireWrite("a '\(_typeName)'")
            let old = RowEncoder.values(of: self)[property.index]
            setStored(property.index, object.map { .integer(context.adoptEmbedded($0)) } ?? .null)
            if case .integer(let key) = old, let table = property.element.target.flatMap(context.table(named:)) {
                context.deleteRow(key, table)
            }
        } else {
            setStored(property.index, object.map { .integer(context.adopt($0, policy)) } ?? .null)
        }
    }

    private final func setStored(_ property: PropertyIndex, _ value: SQLValue) {
        _load(property)
        var image = RowEncoder.image(of: self)
        image.values[property] = value
        decode(image, property)
    }

    private final func decode(_ image: RowImage, _ property: PropertyIndex) {
        _willSet(property)
        var decoder = RowDecoder(image)
        _decode(&decoder)
        _didSet(property)
    }

    /// Gives `target`, a managed object of the same class, this unmanaged object's value of a property.
    final func copyProperty(_ property: PropertySchema, to target: ObjectBase, _ policy: Realm.UpdatePolicy) {
        switch property.kind {
        case .linkingObjects: return
        case .list, .set, .map:
            guard let mine = RowEncoder.collections(of: self).first(where: { $0.property == property.index })?.collection
            else { return }
            RowEncoder.collection(of: target, property.index)?._assignElements(of: mine, policy)
        case .single:
            if property.isLink {
                copyLink(property, to: target, policy)
            } else {
                target.setStored(property.index, RowEncoder.values(of: self)[property.index])
            }
        }
    }

    private final func copyLink(_ property: PropertySchema, to target: ObjectBase, _ policy: Realm.UpdatePolicy) {
        let image = RowEncoder.image(of: self)
        let object = image.objects[property.index]
        if property.element.isEmbedded, policy == .modified, let object,
            let existing = target.untypedValue(property) as? ObjectBase
        {
            existing._context?.copyDifferences(from: object, to: existing, policy)
            return
        }
        guard let context = target._context else { return }
        let old = RowEncoder.values(of: target)[property.index]
        if property.element.isEmbedded {
            if object == nil && old == .null && policy == .modified { return }
            target.setLinkUntyped(property, object, policy)
            return
        }
        let new: SQLValue = object.map { .integer(context.adopt($0, policy)) } ?? image[property.index]
        if policy == .all || new != old { target.setStored(property.index, new) }
    }
}
