public import Dispatch
public import Foundation
import MartletEngine

/// What happened to sections, or to one of them.
public enum RealmSectionedResultsChange<Collection> {
    /// The sections are there; always the first call.
    case initial(Collection)
    /// Deletions, modifications and `sectionsToDelete` are positions as they were at the previous call, insertions and
    /// `sectionsToInsert` as they are now. Elements of deleted sections are not listed, those of inserted ones are. An
    /// element that changes its section is a deletion and an insertion.
    case update(
        Collection, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath],
        sectionsToInsert: IndexSet, sectionsToDelete: IndexSet)
    case error(any Error)
}

/// One call of an observer of sections.
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

/// Sections, or one of them, that can be observed.
public protocol ObservableSections<Row> {
    /// What stands in sections: a class of objects, or a type of values.
    associatedtype Row
    /// What all variants of `observe` come to.
    func _observeSections(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ tell: @escaping (_SectionsEvent, Self) -> Void
    ) -> NotificationToken
}

extension SectionedResults: ObservableSections {
    public typealias Row = Element

    /// What all variants of `observe` come to.
    public func _observeSections(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ tell: @escaping (_SectionsEvent, SectionedResults) -> Void
    ) -> NotificationToken {
        storage.observe(keyPaths, queue) {
            SectionDifference($0, $1, modified: $2.modified, replaced: $2.replaced)
        } tell: {
            tell($0, SectionedResults($1))
        }
    }
}

extension ResultsSection: ObservableSections {
    public typealias Row = Element

    /// What all variants of `observe` come to.
    public func _observeSections(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ tell: @escaping (_SectionsEvent, ResultsSection) -> Void
    ) -> NotificationToken {
        let key = key
        return storage.observe(keyPaths, queue) {
            SectionDifference(key, $0, $1, modified: $2.modified, replaced: $2.replaced)
        } tell: {
            tell($0, ResultsSection(key: key, storage: $1))
        }
    }
}

extension ObservableSections {
    /// Calls `block` with the sections once they are there, and after each change of them, or of the one observed.
    ///
    /// Calls come as those of results do. What makes the key of an element is asked again, on the executor of the call,
    /// for elements that are new or changed.
    ///
    /// - Parameters:
    ///   - keyPaths: which properties count as modifications, through links too; nil for all, up to four objects deep.
    ///     Elements that come, go or change their section are told in any case. Traps where the elements are values.
    ///   - queue: a serial queue to observe on instead; the sections given to the block then belong to it, and keys are
    ///     made there.
    ///   - block: is told of each change.
    /// - Complexity: O(n) for each change of n elements, but comparisons are made in sections that changed only.
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
    /// The same with typed key paths.
    public func observe(
        keyPaths: [any KeyPathDescriptor<Row>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmSectionedResultsChange<Self>) -> Void
    ) -> NotificationToken { observe(keyPaths: keyPaths.map(\.keyPath), on: queue, block) }

    /// The same with Swift key paths.
    public func observe(
        keyPaths: [PartialKeyPath<Row>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmSectionedResultsChange<Self>) -> Void
    ) -> NotificationToken { observe(keyPaths: keyPaths.map { ObjectBase.path($0) }, on: queue, block) }
}

extension SectionStorage {
    /// Observes here or on a queue; `difference` says what there is to tell.
    fileprivate func observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ difference: @escaping (Sections<Key>, Sections<Key>, ResultsTracker.Change) -> SectionDifference<Key>,
        tell: @escaping (_SectionsEvent, SectionStorage) -> Void
    ) -> NotificationToken {
        var observed: SectionStorage? = queue == nil ? self : nil
        var known = Sections<Key>()
        return results.storage.observe(keyPaths, queue, isNoticing: true) { [self, key] event, storage, keys in
            let sections = observed ?? SectionStorage(Results(storage), key)
            if case .failure(let error) = event {
                return tell(_SectionsEvent(kind: .failure(error)), storage === results.storage ? self : sections)
            }
            observed = sections
            guard let keys else { return }
            let change: ResultsTracker.Change?
            switch event {
            case .initial, .failure: change = nil
            case .update(let told, _): change = told
            case .quiet(let silenced):
                guard let silenced else { return }
                change = silenced
            }
            let old = known
            known = sections.sections(of: keys, known, change?.noticed)
            if storage.isCurrent { sections.install(known) }
            guard let change else { return tell(_SectionsEvent(kind: .initial), sections) }
            if case .quiet = event { return }
            let told = difference(old, known, change)
            if !told.isEmpty { tell(_SectionsEvent(told), sections) }
        }
    }

    /// Sections of elements whose keys are known, but for those that were noticed to have changed.
    private func sections(of keys: KeySequence, _ known: Sections<Key>, _ noticed: KeySet?) -> Sections<Key> {
        var keyOf: [ObjectKey: Key] = [:]
        for (section, members) in known.members.enumerated() {
            for member in members { keyOf[member] = known.keys[section] }
        }
        let past = realmOfThePast()
        // Its tables do not keep it.
        defer { withExtendedLifetime(past) {} }
        let pictures = past?.table(results.storage.table.id)
        var sections = Sections<Key>()
        for member in keys {
            let isNoticed = noticed?.contains(member) ?? true
            if !isNoticed, let key = keyOf[member] {
                sections.append(member, key)
            } else if let pictures {
                guard let picture = pictures.frozenObject(member) else { continue }
                sections.append(member, key(unsafeDowncast(picture, to: Element.self)))
            } else if results.storage.table.exists(member) {
                sections.append(member, key(element(member)))
            } else if let key = keyOf[member] {
                sections.append(member, key)
            }
        }
        return sections
    }

    /// The rows of the version that is told of, where a callback before this one has written since: their keys are those of then.
    private func realmOfThePast() -> RealmContext? {
        let context = results.storage.context
        guard !results.storage.isCurrent, let telling = context.hub.telling, !context.shows(telling.version),
            let handle = RealmContext.kept(telling, context.coordinator)
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
