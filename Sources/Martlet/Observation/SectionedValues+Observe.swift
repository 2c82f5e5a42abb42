public import Dispatch
import MartletEngine
import MartletSQLite

extension SectionedValues: ObservableSections {
    public typealias Row = Element

    /// What all variants of `observe` come to.
    public func _observeSections(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ tell: @escaping (_SectionsEvent, SectionedValues) -> Void
    ) -> NotificationToken {
        storage.observe(storage.collection, keyPaths, queue) {
            SectionDifference($0, $1)
        } tell: {
            tell($0, SectionedValues(storage: $1))
        }
    }
}

extension ValuesSection: ObservableSections {
    public typealias Row = Element

    /// What all variants of `observe` come to.
    public func _observeSections(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ tell: @escaping (_SectionsEvent, ValuesSection) -> Void
    ) -> NotificationToken {
        let key = key
        return storage.observe(storage.collection, keyPaths, queue) {
            SectionDifference(key, $0, $1)
        } tell: {
            tell($0, ValuesSection(key: key, storage: $1))
        }
    }
}

extension ValueSections {
    /// Observes here or on a queue; `difference` says what there is to tell.
    fileprivate func observe<Collection: OrderedProperty<Element>>(
        _ collection: Collection, _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ difference: @escaping (Sections<Key>, Sections<Key>) -> SectionDifference<Key>,
        tell: @escaping (_SectionsEvent, ValueSections) -> Void
    ) -> NotificationToken {
        var observed = self
        var known = Sections<Key>()
        var numbers = ValueNumbers()
        return collection.observe(Self.name(of: collection), keyPaths, queue) {
            id, _, schema throws(ResolvedPath.Failure) in
            try ValuesTracker(id, schema)
        } tell: { [key, isAscending] event, state, current in
            if observed.collection !== current {
                observed = ValueSections(current, key, isAscending: isAscending)
            }
            if case .failure(let error) = event { return tell(_SectionsEvent(kind: .failure(error)), observed) }
            guard let state else { return }
            let old = known
            let values = observed.sorted(state.values)
            known = observed.sections(of: values, numbers.renumber(values.map(\._stored)))
            switch event {
            case .initial: tell(_SectionsEvent(kind: .initial), observed)
            case .update:
                let told = difference(old, known)
                if !told.isEmpty { tell(_SectionsEvent(told), observed) }
            case .quiet, .failure: break
            }
        }
    }

    /// The values of the version that is told of, which the Realm may have left behind already.
    private func sorted(_ values: [SQLValue]) -> [Element] {
        guard let context = collection.core?.context else { return [] }
        let source = ElementSource(context: context)
        return ElementValues.sorted(values.map { Element._element(StoredValue($0), source) }, isAscending)
    }

    private func sections(of values: [Element], _ numbers: [ObjectKey]) -> Sections<Key> {
        var sections = Sections<Key>()
        for (value, number) in zip(values, numbers) { sections.append(number, key(value)) }
        return sections
    }

    private static func name(of collection: any OrderedProperty) -> String {
        switch collection.core?.property.kind {
        case .set: "set"
        case .map: "map"
        default: "list"
        }
    }
}

/// Numbers for values, by which they are told apart as objects are by their keys: a value keeps its number for as long as it
/// stays, and one that occurs several times has as many.
private struct ValueNumbers {
    private var numbers: [StoredValue: [ObjectKey]] = [:]
    private var last: ObjectKey = 0

    mutating func renumber(_ values: [StoredValue]) -> [ObjectKey] {
        var taken: [StoredValue: [ObjectKey]] = [:]
        let all = values.map { value in
            let (occurrence, known) = (taken[value]?.count ?? 0, numbers[value] ?? [])
            if occurrence >= known.count { last += 1 }
            let number = occurrence < known.count ? known[occurrence] : last
            taken[value, default: []].append(number)
            return number
        }
        numbers = taken
        return all
    }
}
