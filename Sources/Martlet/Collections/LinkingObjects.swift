import MartletEngine
import MartletValues

/// The objects that link to an object: a live, read-only inverse of a link, list, set or map.
///
/// An object occurs once for each of its links to the target. For example, an object whose list contains the target
/// twice occurs twice.
public struct LinkingObjects<Element: ObjectBase> {
    // Nil for an unmanaged object, which has no linking objects.
    let results: Results<Element>?
    /// A placeholder that is the only element while `KeyPathTracer` follows a key path through these linking objects.
    /// Nil at all other times.
    fileprivate var traced: Element?

    init(results: Results<Element>?) { self.results = results }

    /// The number of links to the object.
    public var count: Int { results?.count ?? (traced == nil ? 0 : 1) }

    /// True after the owner was deleted or the Realm was invalidated. The linking objects of a deleted owner are empty.
    public var isInvalidated: Bool { results?.isInvalidated ?? false }

    /// True for a frozen collection, which `freeze()` returns.
    public var isFrozen: Bool { results?.isFrozen ?? false }

    /// The position of an object; nil if the object does not link to the target.
    public func index(of object: Element) -> Int? { results?.index(of: object) }

    /// True if `object` links to the owner.
    public func contains(_ object: Element) -> Bool { results?.contains(object) ?? false }

    /// The minimum of a property among the linking objects; nil if no object has a value.
    public func min<V: OrderedValue>(ofProperty keyPath: String) -> V? { results?.min(ofProperty: keyPath) }

    /// The maximum of a property among the linking objects; nil if no object has a value.
    public func max<V: OrderedValue>(ofProperty keyPath: String) -> V? { results?.max(ofProperty: keyPath) }

    /// The sum of a property over the linking objects; zero if there are no objects.
    public func sum<V: NumericValue>(ofProperty keyPath: String) -> V {
        results?.sum(ofProperty: keyPath) ?? V._nearest(StoredValue(.integer(0)))
    }

    /// The average of a property over the linking objects that have a value; nil if no object has one.
    public func average<V: NumericValue>(ofProperty keyPath: String) -> V? { results?.average(ofProperty: keyPath) }

    /// The Realm of the object; nil if the object is unmanaged.
    public var realm: Realm? { results?.realm }
}

extension LinkingObjects where Element: ModelObject {
    /// The minimum of a field among the linking objects; nil if no object has a value.
    public func min<F: ValueField<Element>>(of field: (Element.RootFields) -> F) -> F.Value._NonOptional?
    where F.Value: OrderedValue {
        min(ofProperty: field(Element.fields).keyPath)
    }

    /// The maximum of a field among the linking objects; nil if no object has a value.
    public func max<F: ValueField<Element>>(of field: (Element.RootFields) -> F) -> F.Value._NonOptional?
    where F.Value: OrderedValue {
        max(ofProperty: field(Element.fields).keyPath)
    }

    /// The sum of a field over the linking objects that have a value; zero if no object has one.
    public func sum<F: ValueField<Element>>(of field: (Element.RootFields) -> F) -> F.Value._NonOptional
    where F.Value: NumericValue, F.Value._NonOptional: NumericValue {
        sum(ofProperty: field(Element.fields).keyPath)
    }

    /// The average of a field over the linking objects that have a value; nil if no object has one.
    public func average<F: ValueField<Element>>(of field: (Element.RootFields) -> F) -> F.Value._Average?
    where F.Value: NumericValue {
        average(ofProperty: field(Element.fields).keyPath)
    }
}

extension LinkingObjects: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    /// The linking object at a position. Linking objects are in the order of their object keys.
    public subscript(position: Int) -> Element {
        guard let results else {
            if let traced, position == 0 { return traced }
            Misuse.indexOutOfRange(position, count: 0, "the linking objects of an unmanaged object")
        }
        return results[position]
    }

    /// The first linking object; nil if there are none.
    public var first: Element? { results?.first ?? traced }

    /// The last linking object; nil if there are none.
    public var last: Element? { results?.last ?? traced }

    /// Iterates over the current members.
    public func makeIterator() -> Iterator { Iterator(results: results?.makeIterator(), traced: traced) }

    /// An iterator that reads rows in blocks.
    public struct Iterator: IteratorProtocol {
        fileprivate var results: Results<Element>.Iterator?
        fileprivate var traced: Element?

        /// The next linking object.
        public mutating func next() -> Element? {
            defer { traced = nil }
            return results?.next() ?? traced
        }
    }
}

/// Linking objects whose class is known only at run time.
protocol UntypedLinkingObjects {
    var count: Int { get }
    var elements: [ObjectBase] { get }
}

extension LinkingObjects: UntypedLinkingObjects {
    var elements: [ObjectBase] { map { $0 } }
}

extension ObjectBase {
    @_spi(Generated) public final func _linkingObjects<T: ObjectBase>(_ property: Int) -> LinkingObjects<T> {
        var objects = LinkingObjects<T>(results: linkingStorage(property).map { Results($0) })
        objects.traced = KeyPathTracer.element(self, T.self)
        return objects
    }

    /// The linking objects as a live `LinkingObjects<Element>`, where `Element` is the class of the linking objects.
    /// The collection is empty for an unmanaged object. Returns nil if the property is of another kind.
    final func untypedLinkingObjects(_ property: PropertySchema) -> Any? {
        guard case .linkingObjects(let type, _) = property.kind else { return nil }
        let storage = linkingStorage(property.index)
        let origin = storage?.table.anyModel ?? targetModel(type)
        return (origin?.metatype ?? ObjectBase.self).untypedLinkingObjects(storage)
    }

    private static func untypedLinkingObjects(_ storage: ResultsStorage?) -> Any {
        LinkingObjects<Self>(results: storage.map { Results<Self>($0) })
    }

    /// A snapshot of the current linking objects.
    final func linkingObjects(_ property: PropertySchema) -> [ObjectBase] {
        linkingStorage(property.index).map { storage in storage.keys.map { storage.table.object($0) } } ?? []
    }

    private func linkingStorage(_ property: Int) -> ResultsStorage? {
        guard let context = _context, let table = _table,
            case .linkingObjects(let type, let name) = table.type.properties[property].kind,
            let origin = context.table(named: type)
        else { return nil }
        var plan = QueryPlan(table: origin.id)
        if let link = origin.type[name], link.kind == .list || link.kind == .map {
            plan.source = .linkingObjects(LinkID(table: origin.id, property: link.index), target: _key)
        } else {
            plan.add(.isRow(PropertyPath([name]), [_key]))
        }
        return ResultsStorage(
            context, origin, plan, owner: self, linking: LinkingAnswers.ID(property: property, owner: _key))
    }
}

@available(
    *, unavailable,
    message: "a live collection stays on its Realm's thread, queue or actor; pass its values or its owner's primary key"
)
// Unavailable: a collection is confined like the object it belongs to.
extension LinkingObjects: @unchecked Sendable {}
