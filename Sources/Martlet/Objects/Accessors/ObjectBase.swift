public import CMartletRuntime
import MartletEngine
public import Observation

/// The base class of objects and embedded objects. An instance is an accessor of one row of a Realm, or an unmanaged
/// object.
///
/// In the fast case, reading a property takes one comparison and one load. `_guard` equals the pointer of the current
/// thread if the accessor can be read on this thread without further checks. `_guard` is zero if the object is
/// unmanaged, frozen or deleted, or if the accessor does not contain the current values of its row. `_guard` is also
/// zero if the Realm tracks reads, or if it is confined to a queue or actor that is not the main queue or main actor.
open class ObjectBase {
    @_spi(Generated) @exclusivity(unchecked) public final var _guard: UInt = 0
    @exclusivity(unchecked) final var _state = AccessorState.unmanaged
    /// The number of reads of a stale accessor that needed no access to the file, because `_loaded` contained the
    /// property.
    @exclusivity(unchecked) private final var _slowReads: UInt8 = 0
    /// The hash of the primary key; zero until it is first used. The hash remains valid after the row was deleted.
    /// Frozen objects do not store the hash, because several threads use them.
    @exclusivity(unchecked) final var _hash: UInt32 = 0
    /// The number of the write that added the object; 0 if the object was read from the Realm.
    @exclusivity(unchecked) final var _addedIn: UInt32 = 0
    /// The properties whose values are current although the state is `.stale`. Only loops create accessors in this
    /// state, because a loop reads only the columns that its body uses.
    @exclusivity(unchecked) final var _loaded = LoadedProperties.none
    /// A bit mask of the properties that were assigned in the open write and not yet written to the file. The last bit
    /// represents all properties from index 63 on. `PendingWrite` stores which of these were assigned.
    @exclusivity(unchecked) final var _dirty: UInt64 = 0
    @exclusivity(unchecked) final var _key: ObjectKey = 0
    /// The table is not retained, because `_context` keeps it alive.
    @exclusivity(unchecked) private final var _tableReference: Unmanaged<ObjectTable>?
    /// Every object keeps the context of its Realm alive.
    @exclusivity(unchecked) final var _context: RealmContext?
    @exclusivity(unchecked) final var _observers: KeyValueObservers?

    final var _table: ObjectTable? {
        @inline(__always) get { _tableReference?.takeUnretainedValue() }
        set { _tableReference = newValue.map(Unmanaged.passUnretained) }
    }

    enum AccessorState: UInt8 {
        case unmanaged, live, stale, invalidated, tracing
    }

    /// Creates an unmanaged object with the default values of its schema.
    public required init() { _applyDefaults() }

    /// Creates an accessor that will be bound to a row. Its properties do not get the default values of the schema,
    /// because the values of the row replace them.
    @_spi(Generated) public required init(_managed: Void) {}

    /// Creates an unmanaged object from a decoder. The keys are the names of the properties.
    ///
    /// Missing properties get their default values, and unknown keys are ignored. Links are decoded as nested objects.
    ///
    /// - Throws: `DecodingError` for a value of the wrong type, for null in a required property, and for a raw value
    ///   that is not a case of its enum.
    public required convenience init(from decoder: any Decoder) throws {
        self.init()
        try decodeProperties(from: decoder)
    }

    deinit {
        _tableReference?._withUnsafeGuaranteedRef {
            $0.identity.remove(Unmanaged.passUnretained(self).toOpaque(), _key)
        }
    }

    // MARK: Overridden by generated classes

    @_spi(Generated) open func _applyDefaults() {}
    @_spi(Generated) open func _decode(_ row: inout RowDecoder) {}
    @_spi(Generated) open func _encode(_ row: inout RowEncoder) {}
    open class var _facts: StaticString { "" }
    @_spi(Generated) open class var _hasIgnoredProperties: Bool { false }
    /// True if accessors of the class can have current values of some properties only.
    class var _canLoadPartly: Bool { true }

    // MARK: Reading

    @_spi(Generated) @inlinable @inline(__always)
    public final func _load(_ property: Int) {
        if _guard != UInt(cmartlet_thread()) { _prepare(property) }
    }

    // This method releases no value that the caller may use: the values of an accessor are cleared when the accessor
    // becomes stale, and never in this method. The attribute `releasenone` states this guarantee. The compiler can then
    // read several properties without retaining the object.
    @_spi(Generated) @inline(never) @_effects(releasenone)
    public final func _prepare(_ property: Int) {
        switch _state {
        case .unmanaged: UnmanagedReads.record(property, of: self)
        case .live, .stale:
            if isLoaded(property) { return }
            guard let table = _table else { return }
            table.context.prepare(self, property)
            table.context.recordRead(.property(table.id, _key, property))
        case .invalidated: refuseInvalidated()
        case .tracing: KeyPathTracer.record(self, property)
        }
    }

    /// Like `_load`, but for the values of all properties. Records no tracked read.
    final func _loadAll() {
        if _guard != UInt(cmartlet_thread()) { _prepareToSet(0) }
    }

    // True if a property of a stale accessor can be read without further checks. Loops call this for every read, so the
    // table is not retained.
    @inline(__always)
    private final func isLoaded(_ property: Int) -> Bool {
        guard _state == .stale, let reference = _tableReference else { return false }
        let isOnThread = reference._withUnsafeGuaranteedRef { table in
            table.readProperties.insert(property)
            return table.isGuardedByCurrentThread
        }
        guard isOnThread, _loaded.contains(property), _slowReads < Self.slowReadLimit else { return false }
        _slowReads += 1
        return true
    }

    // A read of a loaded property of a stale accessor takes some nanoseconds more than a read of a live accessor. After
    // this number of reads, the other properties are read too, and the accessor becomes live.
    private static var slowReadLimit: UInt8 { 64 }

    /// True if a stale accessor was read so often that all its values should be loaded.
    final var _hasManySlowReads: Bool { _slowReads >= Self.slowReadLimit }

    final func _resetSlowReads() { _slowReads = 0 }

    /// Reuses this accessor for another row. Only one loop may refer to the accessor. The accessor becomes stale.
    /// Returns false if the accessor cannot be reused.
    final func _reuse(for key: ObjectKey) -> Bool {
        guard _observers == nil, _dirty == 0, _state == .live || _state == .stale else { return false }
        _guard = 0
        _state = .stale
        _slowReads = 0
        _hash = 0
        _addedIn = 0
        _loaded = .none
        _key = key
        return true
    }

    // Like `_prepare`, but a live object does not record a tracked read.
    private final func _prepareToSet(_ property: Int) {
        switch _state {
        case .unmanaged: return
        case .live, .stale: _table?.context.prepare(self, nil)
        case .invalidated: refuseInvalidated()
        case .tracing: KeyPathTracer.record(self, property)
        }
    }

    private final func refuseInvalidated() -> Never {
        if _table?.context.access.isOfMigration == true { Misuse.invalidatedInMigration("a '\(_typeName)'") }
        // In a frozen Realm, the target of every link exists in the version of the Realm. If it does not exist, the
        // file is damaged.
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
            observers.recordChange(of: property, in: table.context)
            table.context.callingBeforeChange { observers.willChange(property) }
        }
        if table.hasFurtherAccessors {
            table.context.callingBeforeChange {
                forEachOtherObservers(table) {
                    $0.recordChange(of: property, in: table.context)
                    $0.willChange(property)
                }
            }
        }
        if table.context.hasTrackedReads {
            table.context.callingBeforeChange { table.context.reads.willChange(property, of: _key, in: table.id) }
        }
        table.context.record(self, property, table)
    }

    private final func _didSetManaged(_ property: Int) {
        guard let table = _table else { return }
        if _dirty == 0 || PropertyMask.isFurther(property) {
            table.context.pending.add(self, property)
        } else {
            _dirty |= PropertyMask.bit(property)
        }
        if table.hasFurtherAccessors { table.context.markOtherAccessorsStale(self, table) }
        if let observers = _observers { observers.didChange(property) }
        if table.hasFurtherAccessors { forEachOtherObservers(table) { $0.didChange(property) } }
        if table.context.hasTrackedReads { table.context.reads.didChange() }
    }

    /// Calls `body` with the observers of the other accessors of the row.
    private final func forEachOtherObservers(_ table: ObjectTable, _ body: (KeyValueObservers) -> Void) {
        var observers: [KeyValueObservers] = []
        table.forEachAccessor(_key) { if $0 !== self, let known = $0._observers { observers.append(known) } }
        observers.forEach(body)
    }

    // MARK: Descriptions for messages

    // Overridden by `StoredObject`, because its instances represent objects of several types.
    var _model: ModelClass { ModelClass.of(type(of: self)) }

    /// The table of `context` to which this unmanaged object is added.
    func _table(in context: RealmContext) -> ObjectTable { context.tableForAdding(type(of: self)) }

    /// The values of all properties, for untyped access.
    var _image: RowImage {
        get { RowEncoder.image(of: self) }
        set {
            var decoder = RowDecoder(newValue)
            _decode(&decoder)
        }
    }

    /// Converts an untyped value before it is assigned.
    func _convertedValue(_ value: Any?, _ property: PropertySchema) -> Any? { UntypedValue.unwrapped(value) }

    final var _typeName: String { _model.schema.name }

    /// The description of the object in messages.
    final var _described: String { "a '\(_typeName)' \(_keyDescription)" }

    final var _keyDescription: String {
        guard _state != .unmanaged else { return "that is unmanaged" }
        return "with the key \(_key)"
    }
}

/// Reads inside `withObservationTracking` and in SwiftUI views are tracked. Before a property that was read changes,
/// the Observation framework is notified. See `Realm.Configuration.tracksReads`.
extension ObjectBase: Observable {}

@available(
    *, unavailable,
    message: "live objects stay on their Realm's thread, queue or actor; pass a primary key and look the object up"
)
// Objects stay on the thread, queue or actor of their Realm.
extension ObjectBase: @unchecked Sendable {}
