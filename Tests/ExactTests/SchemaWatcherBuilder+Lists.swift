import MartletEngine
import ModelTesting

@testable import Martlet

// Observers of results of lists. A list may contain an element several times.
extension SchemaWatcherBuilder {
    func watchMembers(
        of list: List<ObjectBase>, _ name: String, _ serial: Int, _ property: String, _ target: String,
        _ paths: [String]?, _ random: inout SeededRandom
    ) -> Watcher? {
        guard let core = list.core else { return nil }
        var results = Results<ObjectBase>(core.members())
        let limit = Int.random(in: 0..<3, using: &random) == 0 ? nil : Double(Int.random(in: 1...4, using: &random))
        let isSorted = Int.random(in: 0..<3, using: &random) == 0
        let isDistinct = Int.random(in: 0..<4, using: &random) == 0
        if let limit { results = results.filter("number < %@", limit) }
        if isSorted { results = results.sorted(byKeyPath: "number", ascending: false) }
        if isDistinct { results = results.distinct(by: ["number"]) }
        let text = "\(limit.map { "below \($0)" } ?? "all")\(isSorted ? " sorted" : "")\(isDistinct ? " distinct" : "")"
        return observe("\(text) of \(name)", results, paths, keepsOrder: false) { model in
            var rows = model.targets(serial, property)
            func number(_ row: Int) -> Double { model.number(row, "number") ?? 0 }
            if let limit { rows = rows.filter { number($0) < limit } }
            if isSorted {
                rows = rows.enumerated().sorted { left, right in
                    let numbers = (number(left.element), number(right.element))
                    return numbers.0 == numbers.1 ? left.offset < right.offset : numbers.0 > numbers.1
                }.map(\.element)
            }
            var known: Set<Double> = []
            if isDistinct { rows = rows.filter { known.insert(number($0)).inserted } }
            return rows.map { model.schemaItem(ModelState.Slot(value: .row($0), written: 0), paths) }
        } live: { results in
            let keys = results.indices.map { results.storage.object(at: $0)?._key ?? -1 }
            return results.isInvalidated ? nil : keys.map { "\($0)" }
        }
    }
}
