import ConformanceModels
import Foundation

@testable import Martlet

// Observers of values of any type.
extension WatcherMaker {
    private struct Filter: Sendable {
        let text: String
        let holds: @Sendable (World, Int) -> Bool
    }

    private static let filters = [
        Filter(text: "int < 3") { ($0.number($1, "int") ?? 0) < 3 },
        Filter(text: "anyValue == 1") { $0.single($1, "anyValue") == .number(1) },
        Filter(text: "anyValue == 'A'") { $0.single($1, "anyValue") == .text("A") },
        Filter(text: "anyValue == nil") { $0.single($1, "anyValue") == .none },
    ]

    private static let anyPaths: [[String]?] = [nil, nil, ["anyValue"], ["int"], ["*"], []]

    func any() -> Watcher? {
        let paths = Self.anyPaths[plan.paths % Self.anyPaths.count]
        switch plan.base % 6 {
        case 0, 1: return anyResults(paths)
        case 2:
            let scalars = world.scalars
            guard !scalars.isEmpty else { return nil }
            let (id, serial) = scalars[plan.node % scalars.count]
            return realm.object(ofType: Scalars.self, forPrimaryKey: id).map { object($0, serial, paths) }
        case 3:
            guard let row = world.only("ScalarLists"), let list = realm.objects(ScalarLists.self).first?.anyValues
            else { return nil }
            return anyElements("a list of values of any type", list, row)
        case 4:
            guard let row = world.only("ScalarSets"), let set = realm.objects(ScalarSets.self).first?.anyValues else {
                return nil
            }
            return anyElements("a set of values of any type", set, row)
        default:
            guard let row = world.only("ScalarMaps"), let map = realm.objects(ScalarMaps.self).first?.anyValues else {
                return nil
            }
            return self.map(map, row, "anyValues", nil) { $0.anyItem($1) }
        }
    }

    private func anyElements<C: ObservableCollection & ThreadConfined & RealmCollection & SendableMetatype>(
        _ name: String, _ collection: C, _ row: Int
    ) -> Watcher where C.Element == AnyRealmValue {
        observe(name, collection, nil, isStable: false) { world in
            world.slots(row, "anyValues").map { world.anyItem($0) }
        } live: {
            $0.isInvalidated ? nil : $0.map(\.shown)
        }
    }

    private func anyResults(_ paths: [String]?) -> Watcher {
        let filter = plan.filter < 12 ? Self.filters[plan.filter % Self.filters.count] : nil
        let isSorted = plan.sort < 4
        var results = realm.objects(Scalars.self)
        if let filter { results = results.filter(filter.text) }
        if isSorted { results = results.sorted(byKeyPath: "int") }
        let name =
            "rows with a value of any type\(filter.map { " where \($0.text)" } ?? "")\(isSorted ? " by int" : "")"
        return observe(name, results, paths, isStable: !isSorted) { world in
            let rows = world.scalars.map(\.serial).filter { filter?.holds(world, $0) ?? true }
            let sorted = rows.enumerated().sorted { left, right in
                let numbers = (world.number(left.element, "int") ?? 0, world.number(right.element, "int") ?? 0)
                return isSorted && numbers.0 != numbers.1 ? numbers.0 < numbers.1 : left.offset < right.offset
            }
            return sorted.map { world.item($0.element, paths) }
        } live: {
            $0.isInvalidated ? nil : $0.map { "\($0.id)" }
        }
    }
}
