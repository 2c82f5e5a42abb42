public import Dispatch
public import Foundation
import MartletEngine

/// A change of all sections, or of one section.
public enum RealmSectionedResultsChange<Collection> {
    /// The initial sections; always the first call.
    case initial(Collection)
    /// Deletions, modifications and `sectionsToDelete` are positions in the sections at the previous call. Insertions
    /// and `sectionsToInsert` are positions in the current sections. Elements of inserted sections are listed; elements
    /// of deleted sections are not listed. An element that moves to another section is listed as a deletion and an
    /// insertion.
    case update(
        Collection, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath],
        sectionsToInsert: IndexSet, sectionsToDelete: IndexSet)
    case error(any Error)
}

/// A notification for an observer of sections.
public struct _SectionsEvent {
    enum Kind {
        case initial
        case update(
            deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath], inserted: IndexSet,
            deleted: IndexSet)
        case failure(any Error)
    }

    let kind: Kind
}

/// Sections that can be observed: all of them, or one section.
public protocol ObservableSections<Row> {
    /// The type of the elements: a class of objects, or a type of values.
    associatedtype Row
    /// Registers an observer. All variants of `observe` call this method.
    func _observeSections(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ notify: @escaping (_SectionsEvent, Self) -> Void
    ) -> NotificationToken
}

extension SectionedResults: ObservableSections {
    public typealias Row = Element

    /// Registers an observer. All variants of `observe` call this method.
    public func _observeSections(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ notify: @escaping (_SectionsEvent, SectionedResults) -> Void
    ) -> NotificationToken {
        storage.observe(keyPaths, queue) {
            SectionDifference($0, $1, modified: $2.modified, replaced: $2.replaced, touched: $3)
        } notify: {
            notify($0, SectionedResults($1))
        }
    }
}

extension ResultsSection: ObservableSections {
    public typealias Row = Element

    /// Registers an observer. All variants of `observe` call this method.
    public func _observeSections(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ notify: @escaping (_SectionsEvent, ResultsSection) -> Void
    ) -> NotificationToken {
        let key = key
        return storage.observe(keyPaths, queue) {
            SectionDifference(key, $0, $1, modified: $2.modified, replaced: $2.replaced, touched: $3)
        } notify: {
            notify($0, ResultsSection(key: key, storage: $1))
        }
    }
}

extension ObservableSections {
    /// Calls `block` with the initial sections, and after each change of the observed sections.
    ///
    /// `block` is called on the same executor as for `Results`. The closure that computes section keys is called
    /// again, on that executor, for elements that are new or changed.
    ///
    /// - Parameters:
    ///   - keyPaths: the properties whose changes are reported as modifications. A key path may lead through links. Nil
    ///     for all properties of the elements and of objects up to three links away. Insertions, deletions and section
    ///     changes are always reported. Traps if key paths are given and the elements are values.
    ///   - queue: a serial queue on which `block` is called instead. The sections that the block receives can be used
    ///     on this queue only, and section keys are computed there.
    ///   - block: the closure that is called with each change.
    /// - Complexity: a change of at most 256 elements costs a search of their sections, and at most a few passes over
    ///   the keys of all elements. After a change of more elements, all elements are grouped again: O(n). Elements are
    ///   compared only in sections that changed.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmSectionedResultsChange<Self>) -> Void
    ) -> NotificationToken {
        _observeSections(keyPaths, queue) { event, sections in
            switch event.kind {
            case .initial: block(.initial(sections))
            case .update(let deletions, let insertions, let modifications, let inserted, let deleted):
                block(
                    .update(
                        sections, deletions: deletions, insertions: insertions, modifications: modifications,
                        sectionsToInsert: inserted, sectionsToDelete: deleted))
            case .failure(let error): block(.error(error))
            }
        }
    }
}

extension ObservableSections where Row: ObjectBase {
    /// Observes the sections. Typed key paths name the properties whose changes are reported as modifications.
    public func observe(
        keyPaths: [any KeyPathDescriptor<Row>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmSectionedResultsChange<Self>) -> Void
    ) -> NotificationToken { observe(keyPaths: keyPaths.map(\.keyPath), on: queue, block) }

    /// Observes the sections. Swift key paths name the properties whose changes are reported as modifications.
    public func observe(
        keyPaths: [PartialKeyPath<Row>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmSectionedResultsChange<Self>) -> Void
    ) -> NotificationToken { observe(keyPaths: keyPaths.map { ObjectBase.path($0) }, on: queue, block) }
}

extension SectionStorage {
    /// Registers an observer on `queue` or, if `queue` is nil, on the current executor. `difference` compares two
    /// states.
    fileprivate func observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ difference:
            @escaping (Sections<Key>, Sections<Key>, ResultsTracker.Change, Set<Int>?) -> SectionDifference<Key>,
        notify: @escaping (_SectionsEvent, SectionStorage) -> Void
    ) -> NotificationToken {
        var observed: SectionStorage? = queue == nil ? self : nil
        var known = KnownSections()
        return results.storage.observe(keyPaths, queue, tracksAll: true) { [self, key] event, storage, keys in
            let sections = observed ?? SectionStorage(Results(storage), key)
            if case .failure(let error) = event {
                return notify(_SectionsEvent(kind: .failure(error)), storage === results.storage ? self : sections)
            }
            observed = sections
            guard let keys else { return }
            let change: ResultsTracker.Change?
            switch event {
            case .initial, .failure: change = nil
            case .update(let reported, _): change = reported
            case .stateOnly(let silenced):
                guard let silenced else { return }
                change = silenced
            }
            let old = known.sections
            let touched = sections.advance(&known, to: keys, change)
            if sections.pastCallbackSnapshot == nil, storage.isCurrent { sections.install(known.sections) }
            guard let change else { return notify(_SectionsEvent(kind: .initial), sections) }
            if case .stateOnly = event { return }
            let sectionChange = difference(old, known.sections, change, touched)
            if !sectionChange.isEmpty { notify(_SectionsEvent(sectionChange), sections) }
        }
    }

    /// The sections that an observer knows, and the results from which they were computed.
    private struct KnownSections {
        var sections = Sections<Key>()
        var keys = KeySequence()
    }

    /// Advances the sections to the results `keys`. `change` is nil before the first call of the observer. Returns the
    /// old positions of the sections whose elements may differ; nil if this is unknown.
    private func advance(_ known: inout KnownSections, to keys: KeySequence, _ change: ResultsTracker.Change?)
        -> Set<Int>?
    {
        let delivered = contextAtDeliveredVersion()
        // The tables do not retain their context.
        defer { withExtendedLifetime(delivered) {} }
        let frozenTable = delivered?.table(results.storage.table.id)
        func sectionKey(_ member: ObjectKey) -> Key? {
            if let frozenTable {
                return frozenTable.frozenObject(member).map { key(unsafeDowncast($0, to: Element.self)) }
            }
            return results.storage.table.exists(member) ? key(element(member)) : nil
        }
        let old = known.keys
        known.keys = keys
        // Results that come from a collection may contain an element several times.
        if let change, results.storage.plan.source == nil,
            let update = SectionUpdate(known.sections, change, from: old, to: keys, sectionKey)
        {
            known.sections = update.sections
            return update.touched
        }
        known.sections = grouped(keys, known.sections, change?.changed, keepsLost: frozenTable == nil, sectionKey)
        return nil
    }

    /// Groups elements into sections. Computes the section keys of the elements in `changedKeys`, or of all elements if
    /// `changedKeys` is nil. All other elements keep their section keys from `known`. If `keepsLost` is true, elements
    /// that do not exist any more also keep their section keys.
    private func grouped(
        _ keys: KeySequence, _ known: Sections<Key>, _ changedKeys: KeySet?, keepsLost: Bool,
        _ sectionKey: (ObjectKey) -> Key?
    ) -> Sections<Key> {
        var keyOf: [ObjectKey: Key] = [:]
        for (section, members) in known.members.enumerated() {
            for member in members { keyOf[member] = known.keys[section] }
        }
        var builder = Sections<Key>.Builder()
        for member in keys {
            let isChanged = changedKeys?.contains(member) ?? true
            if !isChanged, let key = keyOf[member] {
                builder.append(member, key)
            } else if let key = sectionKey(member) ?? (keepsLost ? keyOf[member] : nil) {
                builder.append(member, key)
            }
        }
        return builder.finish()
    }

    /// The version that is being delivered; nil if the Realm shows that version. The Realm shows a newer version if an
    /// earlier callback has written, or if a silent write was committed before this delivery.
    private var pastCallbackSnapshot: SnapshotHandle? {
        let context = results.storage.context
        return context.hub.callbackSnapshot.flatMap { context.shows($0.version) ? nil : $0 }
    }

    /// A frozen context of the version that is being delivered; nil if the Realm shows that version. Section keys must
    /// be computed from the delivered version, not from a newer version.
    private func contextAtDeliveredVersion() -> RealmContext? {
        let context = results.storage.context
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.sectionKeysFromNewest), results.storage.isCurrent { return nil }
        #endif
        guard let snapshot = pastCallbackSnapshot,
            let handle = RealmContext.separateSnapshot(snapshot, context.coordinator)
        else { return nil }
        return RealmContext(frozen: context, handle)
    }
}

extension _SectionsEvent {
    init<Key>(_ difference: SectionDifference<Key>) {
        self.init(
            kind: .update(
                deletions: difference.deletions, insertions: difference.insertions,
                modifications: difference.modifications, inserted: difference.sectionsToInsert,
                deleted: difference.sectionsToDelete))
    }
}
