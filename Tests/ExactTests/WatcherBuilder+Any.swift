import ConformanceModels
import Foundation
import MartletSQLite
import MartletValues

@testable import Martlet
@testable import MartletEngine

// Observers of `AnyRealmValue` values.
extension WatcherBuilder {
    private struct Filter: Sendable {
        let text: String
        let holds: @Sendable (ModelState, Int) -> Bool
    }

    private static let filters = [
        Filter(text: "int < 3") { ($0.number($1, "int") ?? 0) < 3 },
        Filter(text: "anyValue == 1") { $0.singleValue($1, "anyValue") == .number(1) },
        Filter(text: "anyValue == 'A'") { $0.singleValue($1, "anyValue") == .text("A") },
        Filter(text: "anyValue == nil") { $0.singleValue($1, "anyValue") == .none },
    ]

    private static let anyPaths: [[String]?] = [
        nil, nil, ["anyValue"], ["int"], ["*"], [], ["anyValue.name"], ["anyValue.next.name"], ["anyValue.*"],
        ["anyValue.children.amount", "float"], ["date"], ["decimal128"],
    ]

    /// Key paths of elements of collections.
    private static let elementPaths: [[String]?] = [nil, nil, ["name"], ["next.name"], ["*"], []]

    private enum Sort: String, CaseIterable { case int, float, date, decimal128, anyValue }

    private var elementPaths: [String]? { Self.elementPaths[plan.paths % Self.elementPaths.count] }

    func watchAnyValues() -> Watcher? {
        let paths = Self.anyPaths[plan.paths % Self.anyPaths.count]
        switch plan.base % 7 {
        case 0, 1: return watchScalars(paths)
        case 6: return watchEnumHolders()
        case 2:
            let scalars = model.scalars
            guard !scalars.isEmpty else { return nil }
            let (id, serial) = scalars[plan.node % scalars.count]
            return realm.object(ofType: Scalars.self, forPrimaryKey: id).map { watchObject($0, serial, paths) }
        case 3:
            guard let row = model.only("ScalarLists"), let list = realm.objects(ScalarLists.self).first?.anyValues
            else { return nil }
            return watchAnyElements("a list of AnyRealmValues", list, row)
        case 4:
            guard let row = model.only("ScalarSets"), let set = realm.objects(ScalarSets.self).first?.anyValues else {
                return nil
            }
            return watchAnyElements("a set of AnyRealmValues", set, row)
        default:
            guard let row = model.only("ScalarMaps"), let map = realm.objects(ScalarMaps.self).first?.anyValues else {
                return nil
            }
            let paths = elementPaths
            return watchMap(map, row, "anyValues", paths) { $0.anyItem($1, paths) }
        }
    }

    private func watchAnyElements<C: ObservableCollection & ThreadConfined & RealmCollection & SendableMetatype>(
        _ name: String, _ collection: C, _ row: Int
    ) -> Watcher where C.Element == AnyRealmValue {
        let paths = elementPaths
        return observe(name, collection, paths, keepsOrder: false) { model in
            model.slots(row, "anyValues").map { model.anyItem($0, paths) }
        } live: {
            $0.isInvalidated ? nil : $0.map(\.shown)
        }
    }

    private func watchEnumHolders() -> Watcher {
        let ascending = plan.sort.isMultiple(of: 2)
        let results = realm.objects(EnumHolder.self).sorted(byKeyPath: "state", ascending: ascending)
        return observe("enum rows \(ascending ? "up" : "down")", results, nil, keepsOrder: false) { model in
            let sorted = model.enumRows.map(\.serial).enumerated().sorted { left, right in
                let states = [left, right].map { model.singleValue($0.element, "state") }
                if states[0] == states[1] { return left.offset < right.offset }
                return ascending ? states[0].precedes(states[1]) : states[1].precedes(states[0])
            }
            return sorted.map { model.item($0.element, nil) }
        } live: {
            $0.isInvalidated ? nil : $0.map { "\($0.id)" }
        }
    }

    private func watchScalars(_ paths: [String]?) -> Watcher {
        let filter = plan.filter < 12 ? Self.filters[plan.filter % Self.filters.count] : nil
        let isSorted = plan.sort < 10
        let isAscending = plan.cut % 3 > 0
        let sort = Sort.allCases[plan.sort % Sort.allCases.count]
        var results = realm.objects(Scalars.self)
        if let filter { results = results.filter(filter.text) }
        if isSorted { results = results.sorted(byKeyPath: sort.rawValue, ascending: isAscending) }
        let node = realm.context.schema["Node"]?.id ?? 0
        let name =
            "rows with an AnyRealmValue\(filter.map { " where \($0.text)" } ?? "")\(isSorted ? " by \(sort)\(isAscending ? "" : " down")" : "")"
        return observe(name, results, paths, keepsOrder: !isSorted) { model in
            let rows = model.scalars.map(\.serial).filter { filter?.holds(model, $0) ?? true }
            if !isSorted { return rows.map { model.item($0, paths) } }
            let sorted = rows.enumerated().sorted { left, right in
                let order = model.compare(left.element, right.element, sort.rawValue, node)
                return order == 0 ? left.offset < right.offset : (order < 0) == isAscending
            }
            return sorted.map { model.item($0.element, paths) }
        } live: {
            $0.isInvalidated ? nil : $0.map { "\($0.id)" }
        }
    }
}

extension ModelState.Value {
    fileprivate var isNumber: Bool { if case .number = self { true } else { false } }
}

extension ModelState {
    /// The order of two rows by a property.
    fileprivate func compare(_ left: Int, _ right: Int, _ name: String, _ node: TableID) -> Int {
        let values = (singleValue(left, name), singleValue(right, name))
        if name == "anyValue", !(values.0.isNumber && values.1.isNumber) {
            return ValueOrder.compare(
                AnyValue.sortKey(stored(values.0, node)), AnyValue.sortKey(stored(values.1, node)))
        }
        return values.0.precedes(values.1) ? -1 : values.1.precedes(values.0) ? 1 : 0
    }

    /// The stored form of an `AnyRealmValue`.
    private func stored(_ value: Value, _ node: TableID) -> SQLValue {
        switch value {
        case .none: .null
        case .number(let number):
            if let whole = number.asWhole {
                .integer(Int64(whole))
            } else if number.isInfinite {
                .real(number)
            } else {
                AnyValueTag.double.tagged(AnyValueTag.bigEndian(number.bitPattern))
            }
        case .text(let text): .text(text)
        case .row(let row): AnyLink(node, Int64(id(row) ?? 0)).stored
        case .list(let values): AnyValueTag.list.tagged(ElementCodec.encode(values.map { stored($0, node) }))
        case .map(let entries):
            AnyValueTag.map.tagged(
                ElementCodec.encode(
                    entries.sorted { $0.key < $1.key }.flatMap { [.text($0.key), stored($0.value, node)] }))
        }
    }
}
