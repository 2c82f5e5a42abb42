import MartletEngine
import MartletValues

extension ObjectBase {
    /// An unmanaged deep copy, with copies of all linked objects, embedded objects and collections.
    ///
    /// An object that is reachable by several paths is copied once, so cycles of links are preserved. The copies are
    /// plain Swift objects: they can be changed outside of a write and added to another Realm. Linking objects and
    /// ignored properties are not copied.
    ///
    /// - Complexity: O(n) in the number of reachable objects and elements, which may be large.
    public final func detached() -> Self {
        let copies = DetachedCopies()
        let copy = copies.copy(of: self)
        copies.fill()
        return unsafeDowncast(copy, to: Self.self)
    }
}

/// Creates one copy of each object. The values are copied in a loop and not recursively: a chain of links can have any
/// length, so a recursive function could overflow the stack.
final class DetachedCopies {
    private let keepsLinks: Bool
    private var copies: [ObjectBase: ObjectBase] = [:]
    private var waiting: [(source: ObjectBase, copy: ObjectBase)] = []

    /// - Parameter keepsLinks: true if only embedded objects are copied. The copies then link to the same top-level
    ///   objects as the originals.
    init(keepsLinks: Bool = false) { self.keepsLinks = keepsLinks }

    /// A copy of an embedded object. The objects that are embedded in it are copied too. Links of the copies lead to
    /// the same top-level objects as the links of the originals.
    static func embedded(_ source: ObjectBase) -> ObjectBase {
        let copies = DetachedCopies(keepsLinks: true)
        let copy = copies.copy(of: source)
        copies.fill()
        return copy
    }

    /// The copy of an object. A new copy gets its values when `fill()` is called.
    func copy(of source: ObjectBase) -> ObjectBase {
        if let known = copies[source] { return known }
        source._loadAll()
        source.recordAllReads()
        let copy = source._model.metatype.init()
        copies[source] = copy
        waiting.append((source, copy))
        return copy
    }

    /// Copies the values of all objects, including the objects that are found while values are copied.
    func fill() {
        while let (source, copy) = waiting.popLast() { fill(copy, from: source) }
    }

    private func target(_ object: ObjectBase) -> ObjectBase {
        keepsLinks && !object._model.schema.isEmbedded ? object : copy(of: object)
    }

    private func fill(_ copy: ObjectBase, from source: ObjectBase) {
        source._loadAll()
        source.recordAllReads()
        var image = RowEncoder.image(of: source)
        for property in source._model.schema.properties {
            if property.isCollection {
                guard let elements = RowEncoder.collection(of: source, property.index) else { continue }
                let collection = RowEncoder.collection(of: copy, property.index) as? any CodableCollection
                collection?.copyElements(of: elements) { target($0) }
            } else if property.isColumn && property.isLink {
                image.objects[property.index] = (source.untypedValue(property) as? ObjectBase).map { target($0) }
                image.values[property.index] = .null
            } else if property.isColumn && property.isAny, let value = source.untypedValue(property) as? AnyRealmValue {
                image.anyValues[property.index] = value._replacingObject { target($0) }
            }
        }
        var row = RowDecoder(image)
        copy._decode(&row)
    }
}
