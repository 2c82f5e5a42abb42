import MartletEngine
import MartletSQLite

extension ObjectBase {
    /// A copy that is in no Realm, with copies of everything it leads to: links, embedded objects and collections.
    ///
    /// What is reached in several ways is copied once, so circles of links stay circles. The copies behave as plain Swift
    /// objects, and may be changed outside of a write and added to another Realm. Linking objects and ignored properties are
    /// not copied. Complexity: O(n) in everything the object leads to, which may be much.
    public final func detached() -> Self {
        let copies = DetachedCopies()
        let copy = copies.copy(of: self)
        copies.fill()
        return unsafeDowncast(copy, to: Self.self)
    }
}

/// Copies of objects, each made once. The values follow, one object after the other: a chain of links may be longer than a
/// stack is deep.
final class DetachedCopies {
    private var copies: [ObjectBase: ObjectBase] = [:]
    private var waiting: [(source: ObjectBase, copy: ObjectBase)] = []

    /// The copy of an object, still without values when it is new.
    func copy(of source: ObjectBase) -> ObjectBase {
        if let known = copies[source] { return known }
        source._load(0)
        source.noteAllReads()
        let copy = source._model.metatype.init()
        copies[source] = copy
        waiting.append((source, copy))
        return copy
    }

    /// Gives all copies their values.
    func fill() {
        while let (source, copy) = waiting.popLast() { fill(copy, from: source) }
    }

    private func fill(_ copy: ObjectBase, from source: ObjectBase) {
        source._load(0)
        source.noteAllReads()
        var image = RowEncoder.image(of: source)
        for property in source._model.schema.properties {
            if property.isCollection {
                guard let elements = RowEncoder.collection(of: source, property.index) else { continue }
                let collection = RowEncoder.collection(of: copy, property.index) as? any CodableCollection
                collection?.copyElements(of: elements) { self.copy(of: $0) }
            } else if property.isColumn && property.isLink {
                image.objects[property.index] = (source.untypedValue(property) as? ObjectBase).map { self.copy(of: $0) }
                image.values[property.index] = .null
            } else if property.isColumn && property.isAny, let value = source.untypedValue(property) as? AnyRealmValue {
                image.anyValues[property.index] = value._replacingObject { self.copy(of: $0) }
            }
        }
        var row = RowDecoder(image)
        copy._decode(&row)
    }
}
