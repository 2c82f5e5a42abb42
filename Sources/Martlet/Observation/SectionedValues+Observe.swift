public import Dispatch
import MartletEngine
import MartletValues

extension SectionedValues: ObservableSections {
    public typealias Row = Element

    /// Registers an observer. All variants of `observe` call this method.
    public func _observeSections(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ notify: @escaping (_SectionsEvent, SectionedValues) -> Void
    ) -> NotificationToken {
        storage.observe(storage.collection, keyPaths, queue) {
            SectionDifference($0, $1)
        } notify: {
            notify($0, SectionedValues(storage: $1))
        }
    }
}

extension ValuesSection: ObservableSections {
    public typealias Row = Element

    /// Registers an observer. All variants of `observe` call this method.
    public func _observeSections(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ notify: @escaping (_SectionsEvent, ValuesSection) -> Void
    ) -> NotificationToken {
        let key = key
        return storage.observe(storage.collection, keyPaths, queue) {
            SectionDifference(key, $0, $1)
        } notify: {
            notify($0, ValuesSection(key: key, storage: $1))
        }
    }
}

extension ValueSectionStorage {
    /// Registers an observer on `queue` or, if `queue` is nil, on the current executor. `difference` compares two
    /// states.
    fileprivate func observe<Collection: SortableCollection<Element>>(
        _ collection: Collection, _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ difference: @escaping (Sections<Key>, Sections<Key>) -> SectionDifference<Key>,
        notify: @escaping (_SectionsEvent, ValueSectionStorage) -> Void
    ) -> NotificationToken {
        var observed = self
        var known = Sections<Key>()
        var numbers = ValueNumbers()
        return collection.observe(Self.name(of: collection), keyPaths, queue) {
            id, _, schema throws(ResolvedPath.Failure) in
            try ValuesTracker(id, schema)
        } notify: { [key, isAscending] event, state, current in
            if observed.collection !== current {
                observed = ValueSectionStorage(current, key, isAscending: isAscending)
            }
            if case .failure(let error) = event { return notify(_SectionsEvent(kind: .failure(error)), observed) }
            guard let state else { return }
            let old = known
            let values = observed.sorted(state.values)
            known = observed.sections(of: values, numbers.renumber(values.map(\._stored)))
            switch event {
            case .initial: notify(_SectionsEvent(kind: .initial), observed)
            case .update:
                let change = difference(old, known)
                if !change.isEmpty { notify(_SectionsEvent(change), observed) }
            case .stateOnly, .failure: break
            }
        }
    }

    /// Decodes and sorts the values of the delivered version. The Realm may already show a newer version.
    private func sorted(_ values: [SQLValue]) -> [Element] {
        guard let context = collection.core?.context else { return [] }
        let elementContext = ElementContext(context: context)
        return ElementAggregates.sorted(values.map { Element._element(StoredValue($0), elementContext) }, isAscending)
    }

    private func sections(of values: [Element], _ numbers: [ObjectKey]) -> Sections<Key> {
        var builder = Sections<Key>.Builder()
        for (value, number) in zip(values, numbers) { builder.append(number, key(value)) }
        return builder.finish()
    }

    private static func name(of collection: any SortableCollection) -> String {
        switch collection.core?.property.kind {
        case .set: "set"
        case .map: "map"
        default: "list"
        }
    }
}

/// Assigns numbers to values, so that values can be compared by numbers, as objects are compared by their keys. A value
/// keeps its number while it remains in the collection. A value that occurs *n* times has *n* numbers.
private struct ValueNumbers {
    private var numbers: [StoredValue: [ObjectKey]] = [:]
    private var last: ObjectKey = 0

    mutating func renumber(_ values: [StoredValue]) -> [ObjectKey] {
        var used: [StoredValue: [ObjectKey]] = [:]
        let all = values.map { value in
            let (occurrence, known) = (used[value]?.count ?? 0, numbers[value] ?? [])
            if occurrence >= known.count { last += 1 }
            let number = occurrence < known.count ? known[occurrence] : last
            used[value, default: []].append(number)
            return number
        }
        numbers = used
        return all
    }
}
