public import Foundation
import MartletEngine
import MartletValues

/// A value of one of several kinds, which the program chooses at run time. A property of this type is never optional:
/// the case `none` means that there is no value.
///
/// Lists and maps contain further values and can be nested up to 100 levels deep. Storing a value that is nested deeper
/// traps. Lists and maps have value semantics: a change of one element assigns the whole property once.
///
/// ```swift
/// try realm.write {
///     note.content = .map(["title": .string("Rex"), "about": .object(dog), "marks": .list([.int(1)])])
///     note.content["marks"]?.append(.int(2))
/// }
/// ```
///
/// An unmanaged object inside a value is added to the Realm together with the owner of the value. When an object is
/// deleted, it is removed from sets, and `none` replaces it in all other values. Sets cannot contain lists and maps.
/// All values are stored bit for bit.
public enum AnyRealmValue {
    case none
    case bool(Bool)
    case int(Int)
    case float(Float)
    case double(Double)
    case string(String)
    case data(Data)
    case date(Date)
    case decimal128(Decimal128)
    case objectId(ObjectId)
    case uuid(UUID)
    /// A link to an object. Embedded objects are not allowed, because an embedded object belongs to exactly one owner.
    case object(ObjectBase)
    case list([AnyRealmValue])
    case map([String: AnyRealmValue])
}

@available(
    *, unavailable,
    message: "a value of any kind may contain a live object of one thread, queue or actor; pass its contents"
)
extension AnyRealmValue: Sendable {}

// MARK: Storing

extension AnyRealmValue: PersistableValue, OrderedValue {
    /// The stored form of the value, for comparisons. An unmanaged object is represented by its address in memory,
    /// which equals no stored link.
    public var _stored: StoredValue {
        requireAllowedDepth()
        return StoredValue(stored { $0.comparisonLink.stored })
    }

    public var _compared: StoredValue { StoredValue(AnyValue.normalized(_stored.raw)) }

    /// Converts a stored value. Objects become `none`, because they cannot be read without a Realm.
    public static func _value(_ stored: StoredValue) -> AnyRealmValue? {
        AnyRealmValue(validating: stored.raw, in: nil)
    }

    /// The value by which sorts and sets compare elements. Numbers of all kinds are compared by their numeric value. A
    /// value that is not a number equals only values of its own kind.
    public var _sortKey: StoredValue { StoredValue(AnyValue.sortKey(_stored.raw)) }

    public var _comparedObjects: [AnyObject] {
        requireAllowedDepth()
        return objects.filter { $0._context != nil }
    }

    /// The value as a Realm stores it. Adds the unmanaged objects in the value to the Realm.
    func stored(_ elementContext: ElementContext) -> SQLValue {
        requireAllowedDepth()
        return stored { object in
            if object._model.schema.isEmbedded { Misuse.embeddedInAnyValue(object._typeName) }
            let key = elementContext.context.addIfUnmanaged(object, elementContext.policy)
            return AnyLink(object._table(in: elementContext.context).id, key).stored
        }
    }

    private func stored(_ link: (ObjectBase) -> SQLValue) -> SQLValue {
        switch self {
        case .none: .null
        case .int(let value): .integer(Int64(value))
        case .string(let value): .text(value)
        case .double(let value):
            FloatingSpecials.needsBits(value)
                ? AnyValueTag.double.tagged(AnyValueTag.bigEndian(value.bitPattern)) : .real(value)
        case .bool(let value): AnyValueTag.bool.tagged([value ? 1 : 0])
        case .float(let value): AnyValueTag.float.tagged(AnyValueTag.bigEndian(UInt64(value.bitPattern)))
        case .data(let value): AnyValueTag.data.tagged([UInt8](value))
        case .date(let value):
            AnyValueTag.date.tagged(AnyValueTag.bigEndian(value.timeIntervalSinceReferenceDate.bitPattern))
        case .decimal128(let value): AnyValueTag.decimal128.tagged(value.bytes)
        case .objectId(let value): AnyValueTag.objectId.tagged(value.bytes)
        case .uuid(let value): AnyValueTag.uuid.tagged(withUnsafeBytes(of: value.uuid) { Array($0) })
        case .object(let object): link(object)
        case .list(let values): AnyValueTag.list.tagged(ElementCodec.encode(values.map { $0.stored(link) }))
        case .map(let entries):
            AnyValueTag.map.tagged(
                ElementCodec.encode(Self.sorted(entries).flatMap { [.text($0.key), $0.value.stored(link)] }))
        }
    }

    /// The entries, sorted by the code points of their keys.
    static func sorted(_ entries: [String: AnyRealmValue]) -> [(key: String, value: AnyRealmValue)] {
        entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    // MARK: Reading

    /// Reads a stored value, including its objects.
    ///
    /// - Parameter isOld: true for a value of an earlier version. An object in the value that was deleted since that
    ///   version is read as `none`.
    init(_ stored: SQLValue, in context: RealmContext?, isOld: Bool = false) {
        if let value = AnyRealmValue(validating: stored, in: context, isOld: isOld) {
            self = value
        } else if let context {
            context.refuseDamagedAny()
        } else {
            self = .none
        }
    }

    /// Reads a stored value, including its objects; nil if the stored value is damaged.
    init?(validating stored: SQLValue, in context: RealmContext?, isOld: Bool = false) {
        guard AnyValue.isWellFormed(stored) else { return nil }
        self.init(valid: stored, context, isOld)
    }

    private init(valid stored: SQLValue, _ context: RealmContext?, _ isOld: Bool) {
        switch stored {
        case .null: self = .none
        case .integer(let number): self = .int(Int(number))
        case .real(let number): self = .double(number)
        case .text(let text): self = .string(text)
        case .blob(let bytes):
            self = stored.tag.map { Self.value($0, Array(bytes.dropFirst()), context, isOld) } ?? .none
        }
    }

    private static func value(
        _ tag: AnyValueTag, _ content: [UInt8], _ context: RealmContext?, _ isOld: Bool
    ) -> AnyRealmValue {
        let word = content.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        switch tag {
        case .bool: return .bool(content == [1])
        case .float: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: word)))
        case .double: return .double(Double(bitPattern: word))
        case .data: return .data(Data(content))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: word)))
        case .decimal128: return Decimal128(bytes: content).map { .decimal128($0) } ?? .none
        case .objectId: return ObjectId._value(StoredValue(.blob(content))).map { .objectId($0) } ?? .none
        case .uuid: return UUID._value(StoredValue(.blob(content))).map { .uuid($0) } ?? .none
        case .object: return object(content, context, isOld).map { .object($0) } ?? .none
        case .list:
            return .list((ElementCodec.decode(content) ?? []).map { AnyRealmValue(valid: $0, context, isOld) })
        case .map:
            let elements = ElementCodec.decode(content) ?? []
            var entries: [String: AnyRealmValue] = [:]
            for position in stride(from: 0, to: elements.count - 1, by: 2) {
                guard case .text(let key) = elements[position] else { continue }
                entries[key] = AnyRealmValue(valid: elements[position + 1], context, isOld)
            }
            return .map(entries)
        }
    }

    private static func object(_ content: [UInt8], _ context: RealmContext?, _ isOld: Bool) -> ObjectBase? {
        guard let link = AnyLink(content), let context else { return nil }
        guard let table = context.tables[link.table] else {
            if isOld || context.access.isOfMigration { return nil }
            context.refuseUnknownTarget(link)
        }
        if isOld, table.identity.object(link.key) == nil, !table.exists(link.key) { return nil }
        return table.object(link.key)
    }
}

extension ObjectBase {
    /// The link that represents the object in comparisons. The link of an unmanaged object contains its address.
    fileprivate final var comparisonLink: AnyLink {
        if _state == .invalidated { Misuse.invalidated(_typeName, _keyDescription) }
        if let table = _table { return AnyLink(table.id, _key) }
        let address = UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())
        return AnyLink(TableID(UInt32.max), ObjectKey(truncatingIfNeeded: address))
    }
}

// MARK: As an element

extension AnyRealmValue: RealmCollectionValue {
    public static func _element(_ stored: StoredValue, _ elementContext: ElementContext) -> AnyRealmValue {
        AnyRealmValue(stored.raw, in: elementContext.context)
    }

    public static func _isValid(_ stored: StoredValue) -> Bool { AnyValue.isWellFormed(stored.raw) }

    public func _storedElement(_ elementContext: ElementContext) -> StoredValue { StoredValue(stored(elementContext)) }

    // A search does not add unmanaged objects to the Realm.
    public func _searchElement(_ elementContext: ElementContext) -> StoredValue? {
        requireAllowedDepth()
        return objects.allSatisfy { $0._context === elementContext.context } ? _stored : nil
    }

    public var _object: ObjectBase? { nil }

    public var _comparedElement: StoredValue? { _compared }

    // Equal numbers of different kinds are the same element of a set, as in queries.
    public var _identity: StoredValue? { _sortKey }

    public var _isCollection: Bool {
        switch self {
        case .list, .map: true
        default: false
        }
    }

    public func _replacingObject(_ replacement: (ObjectBase) -> ObjectBase) -> AnyRealmValue {
        switch self {
        case .object(let object): .object(replacement(object))
        case .list(let values): .list(values.map { $0._replacingObject(replacement) })
        case .map(let entries): .map(entries.mapValues { $0._replacingObject(replacement) })
        default: self
        }
    }

    /// The objects in the value, at all levels.
    var objects: [ObjectBase] {
        switch self {
        case .object(let object): [object]
        case .list(let values): values.flatMap(\.objects)
        case .map(let entries): Self.sorted(entries).flatMap(\.value.objects)
        default: []
        }
    }
}
