import MartletEngine
import MartletValues

/// An object of a type for which the program has no class. The schema in the file defines the properties of the object.
///
/// Types and properties are accessed by name, as in `realm.dynamicObjects("Dog")`.
public class StoredObject: ObjectBase {
    // One value for each property; null for collections and linking objects.
    private var values: [SQLValue] = []
    private var collections: [Int: any PropertyCollection] = [:]
    private var unmanagedModel: ModelClass?

    /// Traps: only a Realm creates such objects.
    public required init() { Misuse.createdStoredObject() }

    @_spi(Generated) public required init(_managed: Void) { super.init(_managed: ()) }

    // Creates an unmanaged object with default values, to be added to a Realm.
    init(_ model: ModelClass) {
        super.init(_managed: ())
        unmanagedModel = model
        values = [SQLValue](repeating: .null, count: model.schema.properties.count)
        for (property, value) in zip(model.schema.properties.filter(\.isColumn), model.declaration.defaultRow()) {
            values[property.index] = value
        }
    }

    /// The model of a type for which the program has no class.
    static func model(of type: ObjectTypeSchema) -> ModelClass {
        ModelClass(type, StoredObject.self, TypeDeclaration(type) { TableLayout.zeroRow(type) }) { StoredObject($0) }
    }

    override var _model: ModelClass {
        guard let model = _table?.anyModel ?? unmanagedModel else { Misuse.createdStoredObject() }
        return model
    }

    override func _table(in context: RealmContext) -> ObjectTable { context.table(_model) }

    /// The classes of collections whose elements are links.
    struct LinkCollections {
        let list: any PropertyCollection.Type
        let set: any PropertyCollection.Type
        let map: any PropertyCollection.Type
    }

    var linkCollections: LinkCollections {
        LinkCollections(list: List<ObjectBase>.self, set: MutableSet<ObjectBase>.self, map: Map<ObjectBase?>.self)
    }

    // MARK: Rows

    override class var _canLoadPartly: Bool { false }

    @_spi(Generated) override public func _decode(_ row: inout RowDecoder) {
        let properties = _model.schema.properties
        if values.count != properties.count { values = [SQLValue](repeating: .null, count: properties.count) }
        for property in properties {
            if property.isColumn { row.value(property, into: &values[property.index]) } else { row.skip() }
        }
    }

    @_spi(Generated) override public func _encode(_ row: inout RowEncoder) {
        let properties = _model.schema.properties
        for property in properties {
            if property.isColumn {
                row.value(property.index < values.count ? values[property.index] : .null, property.element)
            } else if let type = property.collectionType(linkCollections) {
                encode(type, property.index, &row)
            } else {
                row.skip()
            }
        }
    }

    override var _image: RowImage {
        get { RowImage(values: values) }
        set { values = newValue.values }
    }

    private func encode<C: PropertyCollection>(_ type: C.Type, _ property: Int, _ row: inout RowEncoder) {
        var collection = collections[property] as? C
        row.collection(&collection)
        collections[property] = collection
    }
}

extension PropertySchema {
    /// The class of a collection; nil for single properties and linking objects.
    fileprivate func collectionType(_ links: StoredObject.LinkCollections) -> (any PropertyCollection.Type)? {
        guard isCollection else { return nil }
        if isLink {
            return switch kind {
            case .set: links.set
            case .map: links.map
            default: links.list
            }
        }
        return element.collectionType(kind, isOptional: isOptional)
    }
}

extension ElementType {
    fileprivate func collectionType(_ kind: PropertyKind, isOptional: Bool) -> (any PropertyCollection.Type)? {
        switch self {
        case .intEnum: return Self.collectionType(of: Int.self, kind, isOptional)
        case .stringEnum: return Self.collectionType(of: String.self, kind, isOptional)
        case .scalar(let scalar):
            guard let type = UntypedValue.type(of: scalar) as? any (RealmCollectionValue & Hashable).Type else {
                return nil
            }
            return Self.collectionType(of: type, kind, isOptional)
        case .link, .embedded: return nil
        }
    }

    private static func collectionType<Element: RealmCollectionValue & Hashable>(
        of type: Element.Type, _ kind: PropertyKind, _ isOptional: Bool
    ) -> any PropertyCollection.Type {
        switch kind {
        case .set: isOptional ? MutableSet<Element?>.self : MutableSet<Element>.self
        case .map: isOptional ? Map<Element?>.self : Map<Element>.self
        default: isOptional ? List<Element?>.self : List<Element>.self
        }
    }
}
