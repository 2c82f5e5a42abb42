import MartletEngine
import MartletValues

/// The observed properties of an object or projection, with the names that reported changes use.
struct ObservedItems {
    /// A property of an object or a label of a projection, and the type of its value.
    struct ReportedProperty {
        let name: String
        /// Nil for collections and linking objects, whose values are not reported.
        let property: PropertySchema?
        /// For an enum property whose values are reported as enum cases: an object of the class that has the property.
        /// Nil if the values are reported as raw values, and for all other properties.
        var enumOwner: ObjectBase?
    }

    private(set) var reportedProperties: [ReportedProperty] = []
    private(set) var items: [ObjectTracker.Item] = []

    /// Appends an item that reports the value at the path `value` when one of the `watched` paths changes.
    ///
    /// - Parameter make: creates an object of a type; nil if enums are reported as raw values.
    mutating func append(
        _ name: String, value: PropertyPath, watched: [PropertyPath], _ table: TableID, _ schema: DatabaseSchema,
        casesOf make: ((TableID) -> ObjectBase?)? = nil
    ) {
        let resolved = try? ResolvedPath(value, from: table, in: schema)
        let isPlain = resolved?.steps.allSatisfy { if case .link = $0 { true } else { false } } ?? false
        let property = resolved?.end.map { schema[$0.table].type.properties[$0.property] }
        let isSingle = isPlain && property?.kind == .single
        var item = ReportedProperty(name: name, property: isSingle ? property : nil)
        if isSingle, property?.element.isEnum == true, let end = resolved?.end { item.enumOwner = make?(end.table) }
        reportedProperties.append(item)
        items.append(ObjectTracker.Item(watched: watched, valuePath: isSingle ? value : nil))
    }

    /// The items for the first properties of `paths`, one per property. If `paths` is nil, one item for each property
    /// of the type except linking objects.
    static func properties(_ paths: [PropertyPath]?, _ table: TableID, _ schema: DatabaseSchema) -> ObservedItems {
        var result = ObservedItems()
        for property in schema[table].type.properties {
            let own = PropertyPath([property.name])
            let watched: [PropertyPath]
            if let paths {
                watched = paths.compactMap { $0.names == ["*"] ? own : $0.names.first == property.name ? $0 : nil }
            } else if case .linkingObjects = property.kind {
                watched = []
            } else {
                watched = [own]
            }
            if !watched.isEmpty { result.append(property.name, value: own, watched: watched, table, schema) }
        }
        return result
    }
}

/// The part of an object's observation that runs on the executor. It converts stored values to the values that are
/// reported to the observer.
///
/// The observation retains the values of the last call, including linked objects. It can therefore report an old value
/// after the row of the value was deleted. Used on the executor only.
final class ObjectObservation {
    enum Outcome {
        case change(ObjectBase, [PropertyChange])
        case deleted
        case failure(any Error)
    }

    private let context: RealmContext
    private let table: ObjectTable
    private var object: ObjectBase
    private let reportedProperties: [ObservedItems.ReportedProperty]
    private var values: [Any?] = []
    /// The version to which `values` belong.
    private var version: Version
    private let notify: (Outcome) -> Void

    private init(
        _ object: ObjectBase, _ context: RealmContext, _ table: ObjectTable, _ items: ObservedItems,
        _ notify: @escaping (Outcome) -> Void
    ) {
        self.object = object
        self.context = context
        self.table = table
        self.notify = notify
        reportedProperties = items.reportedProperties
        version = context.version
    }

    static func start(
        _ object: ObjectBase, _ items: ObservedItems, _ registration: Registration,
        _ notify: @escaping (Outcome) -> Void
    ) {
        guard let context = object._context, let table = object._table else {
            Misuse.observeUnmanaged(object._typeName)
        }
        let observation = ObjectObservation(object, context, table, items, notify)
        let tracker: ObjectTracker
        do {
            tracker = try ObjectTracker(table: table.id, key: object._key, items: items.items, context.schema)
        } catch {
            Misuse.unknownKeyPath(error.name, component: error.name, type: error.type)
        }
        let handle = context.handle
        let known: ObjectTracker.State
        do {
            known = try tracker.state(handle)
        } catch {
            context.readFailed(error)
        }
        observation.values = observation.reportedValues(known.values, Array(known.values.indices), at: context.version)
        let entry = TrackingEntry<ObjectTracker.State, ObjectTracker.Change>(
            registration, .row(table.id, object._key, orTables: tracker.otherTables), deliveredVersion: context.version,
            known: known
        ) {
            known, changes, handle in
            let (state, change) = try tracker.advance(known ?? tracker.state(handle), changes, handle)
            if case .none = change { return .init(state: state) }
            return .init(state: state, change: change, isLast: state.isInvalidated)
        } notify: { event, state, version in
            observation.receive(event, state, at: version)
        }
        context.hub.add(entry)
    }

    private func receive(
        _ event: TrackingEntry<ObjectTracker.State, ObjectTracker.Change>.Event, _ state: ObjectTracker.State?,
        at version: Version
    ) {
        switch event {
        case .stateOnly:
            #if MARTLET_SEEDED_BUGS
                if SeededBug.isOn(.silencedValues) { return }
            #endif
            guard let state, !state.isInvalidated else { return }
            values = reportedValues(state.values, Array(state.values.indices), at: version)
            self.version = version
        case .failure(let error): notify(.failure(error))
        case .change(.none): break
        case .change(.deleted): notify(.deleted)
        case .change(.modified(let changed)):
            let old = changed.map { withLiveObjects(values[$0]) }
            for (index, value) in zip(changed, reportedValues(state?.values ?? [], changed, at: version)) {
                values[index] = value
            }
            self.version = version
            let changes = zip(changed, old).map { index, old in
                PropertyChange(name: reportedProperties[index].name, oldValue: old, newValue: values[index])
            }
            notify(.change(current, changes))
        }
    }

    // The observed instance, or a new instance if the Realm was invalidated and shows the row again.
    private var current: ObjectBase {
        if object._state == .invalidated, table.exists(object._key) { object = table.object(object._key) }
        return object
    }

    // After `invalidate()`, an object that still exists is represented by another instance.
    private func withLiveObjects(_ value: Any?) -> Any? {
        switch value {
        case let object as ObjectBase: live(object)
        case let value as AnyRealmValue: value.mappingObjects(live)
        default: value
        }
    }

    private func live(_ object: ObjectBase) -> ObjectBase {
        guard object._state == .invalidated, let table = object._table,
            context.hasKept(RowID(table: table.id, key: object._key), since: version)
        else { return object }
        return table.object(object._key)
    }

    private func reportedValues(_ stored: [SQLValue], _ indices: [Int], at version: Version) -> [Any?] {
        indices.map { index in
            guard let property = reportedProperties[index].property else { return nil }
            if property.isColumn, stored[index] != .null, !property.accepts(stored[index]) {
                context.refuse(DamagedValue(table.type.name, property, object._key, holds: stored[index]))
            }
            if property.isAny { return AnyRealmValue(stored[index], in: context, isOld: true) }
            if let owner = reportedProperties[index].enumOwner {
                return RowEncoder.enumCase(StoredValue(stored[index]), property.index, of: owner)
            }
            guard property.isLink, let target = property.element.target else {
                return UntypedValue.swift(stored[index], property.element)
            }
            guard case .integer(let key) = stored[index], let table = context.table(named: target) else { return nil }
            if !context.shows(version), !context.hasKept(RowID(table: table.id, key: key), since: version) {
                // The target was deleted by a silent write whose version the Realm already shows.
                return table.missing(key)
            }
            return table.identity.object(key) ?? (table.exists(key) ? table.object(key) : nil)
        }
    }
}

extension AnyRealmValue {
    fileprivate func mappingObjects(_ transform: (ObjectBase) -> ObjectBase) -> AnyRealmValue {
        switch self {
        case .object(let object): .object(transform(object))
        case .list(let values): .list(values.map { $0.mappingObjects(transform) })
        case .map(let entries): .map(entries.mapValues { $0.mappingObjects(transform) })
        default: self
        }
    }
}
