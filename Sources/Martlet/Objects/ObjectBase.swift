public import CMartletRuntime
import MartletEngine
public import Observation

/// What objects and embedded objects share: one row of a Realm, or a plain object that is not in one yet.
///
/// Reading a property is a comparison and a load. `_guard` holds the thread's own word while the accessor may be read
/// there without a further look, and zero otherwise: unmanaged, changed since it was read, deleted, confined to a queue, or
/// in a Realm whose reads are tracked.
open class ObjectBase {
    @_spi(Generated) @exclusivity(unchecked) public final var _guard: UInt = 0
    @exclusivity(unchecked) final var _state = AccessorState.unmanaged
    /// The hash of the primary key once it was asked for, which outlives the row; zero before. Frozen objects, which threads
    /// share, do not keep it.
    @exclusivity(unchecked) final var _hash: UInt32 = 0
    /// The number of the write that added the object to its Realm; 0 for one that was read from there.
    @exclusivity(unchecked) final var _addedIn: UInt32 = 0
    /// Properties assigned in the open write and not yet written; the last bit stands for all from 63 on.
    @exclusivity(unchecked) final var _dirty: UInt64 = 0
    @exclusivity(unchecked) final var _key: ObjectKey = 0
    /// Kept alive by `_context`.
    @exclusivity(unchecked) unowned(unsafe) final var _table: ObjectTable?
    /// Keeps the state of the Realm alive as long as one of its objects is.
    @exclusivity(unchecked) final var _context: RealmContext?
    @exclusivity(unchecked) final var _observers: KeyValueObservers?

    enum AccessorState: UInt8 {
        case unmanaged, live, stale, invalidated, tracing
    }

    /// An unmanaged object with the defaults of its schema.
    public required init() { _applyDefaults() }

    /// An accessor about to be bound to a row: without defaults, which would be thrown away.
    @_spi(Generated) public required init(_managed: Void) {}

    /// An unmanaged object with values from a decoder, under the names of the properties.
    ///
    /// Properties that are not given get their defaults, keys that name no property are passed over. Links are decoded as
    /// nested objects.
    ///
    /// - Throws: `DecodingError` for a value of another type, null where the property is required, and a raw value that is no
    ///   case of an enum.
    public required convenience init(from decoder: any Decoder) throws {
        self.init()
        try decodeProperties(from: decoder)
    }

    deinit {
        if let table = _table { table.identity.remove(Unmanaged.passUnretained(self).toOpaque(), _key) }
    }

    // MARK: For generated classes to override

    @_spi(Generated) open func _applyDefaults() {}
    @_spi(Generated) open func _decode(_ row: inout RowDecoder) {}
    @_spi(Generated) open func _encode(_ row: inout RowEncoder) {}
    open class var _facts: StaticString { "" }

    // MARK: Reading

    @_spi(Generated) @inlinable @inline(__always)
    public final func _load(_ property: Int) {
        if _guard != UInt(cmartlet_thread()) { _prepare(property) }
    }

    // Releases nothing the caller may hold: values are cleared when an accessor becomes stale, not here. That promise lets
    // the compiler read properties in a row without retaining the object.
    @_spi(Generated) @inline(never) @_effects(releasenone)
    public final func _prepare(_ property: Int) {
        switch _state {
        case .unmanaged: UnmanagedReads.note(property, of: self)
        case .live, .stale:
            guard let table = _table else { return }
            table.context.prepare(self)
            table.context.noteRead(.property(table.id, _key, property))
        case .invalidated: refuseInvalidated()
        case .tracing: KeyPathTracer.record(self, property)
        }
    }

    // As before a read, but an assignment is none.
    private final func _prepareToSet(_ property: Int) {
        switch _state {
        case .unmanaged: return
        case .live, .stale: _table?.context.prepare(self)
        case .invalidated: refuseInvalidated()
        case .tracing: KeyPathTracer.record(self, property)
        }
    }

    private final func refuseInvalidated() -> Never {
        if _table?.context.access.isOfMigration == true { Misuse.migrationIsOver("a '\(_typeName)'") }
        // A link of a frozen object leads to a row of the same version.
        if let context = _table?.context, context.isFrozen { context.refuseMissing(self) }
        Misuse.invalidated(_typeName, _keyDescription)
    }

    // MARK: Writing

    @_spi(Generated) public final func _willSet(_ property: Int) {
        if _state == .unmanaged {
            if let observers = _observers { observers.willChange(property) }
        } else {
            _willSetManaged(property)
        }
    }

    @_spi(Generated) public final func _didSet(_ property: Int) {
        if _state == .unmanaged {
            if let observers = _observers { observers.didChange(property) }
        } else {
            _didSetManaged(property)
        }
    }

    private final func _willSetManaged(_ property: Int) {
        if _guard != UInt(cmartlet_thread()) { _prepareToSet(property) }
        guard let table = _table else { return }
        table.context.willModify(self, table, property)
        if property == table.type.primaryKey {
            Misuse.primaryKeyChange(_typeName, table.type.properties[property].name)
        }
        if let observers = _observers {
            observers.noteChange(of: property, in: table.context)
            observers.willChange(property)
            requireSettable(property, table)
        }
        if table.hasTwins {
            forEachTwin(table) {
                $0.noteChange(of: property, in: table.context)
                $0.willChange(property)
            }
            requireSettable(property, table)
        }
        if table.context.isNoting {
            table.context.reads.willChange(property, of: _key, in: table.id)
            requireSettable(property, table)
        }
        table.context.record(self, property, table)
    }

    // An observer may have deleted the object or ended the write.
    private final func requireSettable(_ property: Int, _ table: ObjectTable) {
        _prepareToSet(property)
        table.context.willModify(self, table, property)
    }

    private final func _didSetManaged(_ property: Int) {
        guard let table = _table else { return }
        if _dirty == 0 { table.context.dirty.append(self) }
        _dirty |= 1 << UInt64(min(property, 63))
        if table.hasTwins { table.context.settleTwins(self, table) }
        if let observers = _observers { observers.didChange(property) }
        if table.hasTwins { forEachTwin(table) { $0.didChange(property) } }
        if table.context.isNoting { table.context.reads.didChange() }
    }

    /// The observers of the other accessors of the row.
    private final func forEachTwin(_ table: ObjectTable, _ body: (KeyValueObservers) -> Void) {
        var observers: [KeyValueObservers] = []
        table.forEachAccessor(_key) { if $0 !== self, let known = $0._observers { observers.append(known) } }
        observers.forEach(body)
    }

    // MARK: Names for messages

    // Objects of a migration have one class for all types.
    var _model: ModelClass { ModelClass.of(type(of: self)) }

    /// The table that an unmanaged object is to be a row of.
    func _table(in context: RealmContext) -> ObjectTable { context.table(type(of: self)) }

    /// The values of all properties, as untyped access reads and writes them.
    var _image: RowImage {
        get { RowEncoder.image(of: self) }
        set {
            var decoder = RowDecoder(newValue)
            _decode(&decoder)
        }
    }

    /// An untyped value as it is to be assigned.
    func _accepted(_ value: Any?, _ property: PropertySchema) -> Any? { UntypedValue.unwrapped(value) }

    final var _typeName: String { _model.schema.name }

    /// The object as messages name it.
    final var _described: String { "a '\(_typeName)' \(_keyDescription)" }

    final var _keyDescription: String {
        guard _state != .unmanaged else { return "that is unmanaged" }
        return "with the key \(_key)"
    }
}

/// What is read of an object inside of `withObservationTracking`, and by SwiftUI, is announced when it changes; see
/// `Realm.Configuration.tracksReads`.
extension ObjectBase: Observable {}

@available(
    *, unavailable,
    message: "live objects stay where their Realm was opened; pass a primary key and look the object up"
)
// Objects stay on the thread, queue or actor of their Realm.
extension ObjectBase: @unchecked Sendable {}
