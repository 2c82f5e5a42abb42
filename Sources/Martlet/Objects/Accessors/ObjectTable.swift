import CMartletRuntime
import MartletEngine
import MartletValues
import Synchronization

/// One object type in one Realm: its class, its table and its living accessors.
final class ObjectTable {
    let id: TableID
    let type: ObjectTypeSchema
    let layout: TableLayout
    /// The properties that link to this type. The list is updated when types are added to the open file.
    private(set) var incoming: [DatabaseSchema.Incoming]
    /// The rows of the type.
    let rows: RowStore
    /// Nil if the program has no class for this type of the file.
    let model: ModelClass?
    private let metatype: ObjectBase.Type?
    /// True if a loop may reuse an accessor for another row after the program has released the accessor.
    let reusesAccessors: Bool
    /// True if loops may read only the columns that their bodies read.
    let readsSelections: Bool
    /// True if a loop over objects of this type keeps the targets of their links.
    let keepsLinkTargets: Bool
    /// The properties of stale accessors that the program has read. A loop over this type uses and then empties this
    /// set, to find out which columns its body reads.
    @exclusivity(unchecked) var readProperties = LoadedProperties.none
    /// The model that is used if `model` is nil. It is created on first use. A mutex guards it, because several threads
    /// may use a frozen Realm.
    private let fallbackModel = Mutex<ModelClass?>(nil)
    let identity = IdentityMap()
    /// The change count of the context after the last change that affects only queries that read this type.
    @exclusivity(unchecked) var changeCount: UInt64 = 0
    /// The context owns this table, and the objects keep the context alive.
    unowned(unsafe) let context: RealmContext
    /// The property index of the integer primary key, whose values are the object keys. It is -1 if the runtime assigns
    /// the object keys.
    let integerKey: PropertyIndex
    /// True if a column contains raw values of an enum. Before a row of this type is changed, its old values are read
    /// from the file, because an accessor does not keep a raw value that belongs to no case of the enum.
    let hasEnumColumns: Bool
    /// The further accessors of rows, in addition to the accessor in `identity`. They are objects that were added as an
    /// update of an existing row.
    private var furtherAccessors: [ObjectKey: [WeakObject]] = [:]
    /// The known linking objects of some objects of this type.
    @exclusivity(unchecked) var linkingAnswers = LinkingAnswers()

    init(_ table: DatabaseSchema.Table, _ model: ModelClass?, _ context: RealmContext, _ texts: TextArena) {
        id = table.id
        type = table.type
        layout = table.layout
        incoming = table.incoming
        rows = RowStore(table, texts)
        self.model = model
        metatype = model?.metatype
        let canLoadPartly = metatype?._canLoadPartly ?? false
        readsSelections = canLoadPartly && !context.access.isOfMigration && !context.isFrozen
        reusesAccessors = readsSelections && metatype?._hasIgnoredProperties == false
        keepsLinkTargets = readsSelections && table.type.properties.contains { $0.kind == .single && $0.isLink }
        self.context = context
        integerKey = table.type.hasIntegerKey ? table.type.primaryKey ?? -1 : -1
        hasEnumColumns = table.type.properties.contains { $0.isColumn && $0.element.isEnum }
    }

    /// After a change of the file's schema, updates the full-text indexes of this type and the list of properties that
    /// link to it.
    func update(from table: DatabaseSchema.Table) {
        incoming = table.incoming
        rows.update(from: table)
    }

    /// The accessor of a row. A new accessor reads its values on first use.
    func object(_ key: ObjectKey) -> ObjectBase {
        if let known = identity.object(key) { return known }
        if context.isFrozen { return frozenObject(key) ?? missing(key) }
        let object = makeAccessor(key)
        identity.insert(object, key)
        return object
    }

    /// The accessors of distinct rows.
    func accessors(_ keys: [ObjectKey]) -> [ObjectBase] { identity.objects(keys, orMake: makeAccessor) }

    /// The model of the type, or the fallback model if the program has no class for it.
    var anyModel: ModelClass {
        if let model { return model }
        let made = fallbackModel.withLock { known in
            if known == nil { known = context.makeFallbackModel(type) }
            return known
        }
        guard let made else { Misuse.unknownType(type.name) }
        return made
    }

    func makeAccessor(_ key: ObjectKey) -> ObjectBase {
        let object = (metatype ?? anyModel.metatype).init(_managed: ())
        object._table = self
        object._context = context
        object._key = key
        object._state = .stale
        return object
    }

    /// True if the accessors that the current thread fills can be read on this thread without further checks.
    var isGuardedByCurrentThread: Bool {
        Unmanaged.passUnretained(context)._withUnsafeGuaranteedRef { $0.guardWord } == UInt(cmartlet_thread())
    }

    func exists(_ key: ObjectKey) -> Bool { context.read { try rows.exists(key, $0) } }

    private var furtherAccessorLimit = 64

    private struct WeakObject {
        weak var object: ObjectBase?
    }

    var hasFurtherAccessors: Bool { !furtherAccessors.isEmpty }

    /// Calls `body` with each living accessor of a row. A row has several accessors only if an unmanaged object was
    /// added as an update of the row, or if a rollback restored an accessor.
    func forEachAccessor(_ key: ObjectKey, _ body: (ObjectBase) -> Void) {
        if let object = identity.object(key) { body(object) }
        guard !furtherAccessors.isEmpty, let others = furtherAccessors[key] else { return }
        let living = Self.living(others)
        furtherAccessors[key] = living.isEmpty ? nil : living.map { WeakObject(object: $0) }
        for object in living { body(object) }
    }

    private static func living(_ references: [WeakObject]) -> [ObjectBase] {
        references.compactMap(\.object).filter { $0._state != .invalidated }
    }

    /// The living accessors of all rows.
    var accessors: [ObjectBase] { identity.all() + furtherAccessors.values.flatMap { $0.compactMap(\.object) } }

    /// Makes an unmanaged object a further accessor of a row.
    func bindFurtherAccessor(_ object: ObjectBase, _ key: ObjectKey) {
        object.storeKeyHash(type)
        object._table = self
        object._context = context
        object._key = key
        object._state = .live
        keepFurtherAccessor(object, key)
    }

    private func keepFurtherAccessor(_ object: ObjectBase, _ key: ObjectKey) {
        if furtherAccessors.count >= furtherAccessorLimit {
            furtherAccessors = furtherAccessors.filter { !Self.living($0.value).isEmpty }
            furtherAccessorLimit = max(64, 2 * furtherAccessors.count)
        }
        furtherAccessors[key, default: []].append(WeakObject(object: object))
    }

    /// Makes an invalidated object an accessor of its row again.
    func restore(_ object: ObjectBase) {
        object._state = .stale
        if identity.object(object._key) == nil {
            identity.insert(object, object._key)
        } else {
            keepFurtherAccessor(object, object._key)
        }
    }

    /// Called when an unmanaged object is being added. Makes the object the accessor of its row.
    func bind(_ object: ObjectBase, _ key: ObjectKey) {
        object.storeKeyHash(type)
        object._table = self
        object._context = context
        object._key = key
        object._addedIn = context.pending.number
        identity.insert(object, key)
    }
}
