import MartletEngine
import ModelTesting

@testable import Martlet

/// A random query of objects of a random class: a condition, an order, distinct values and a limit. The query is
/// executed both in a Realm and in the model.
struct SchemaQuery {
    private struct Condition {
        let text: String
        let holds: (ModelState, Int) -> Bool

        func and(_ other: Condition) -> Condition {
            Condition(text: "(\(text)) AND (\(other.text))") { holds($0, $1) && other.holds($0, $1) }
        }

        func or(_ other: Condition) -> Condition {
            Condition(text: "(\(text)) OR (\(other.text))") { holds($0, $1) || other.holds($0, $1) }
        }
    }

    private let condition: Condition?
    private var sort: (path: String, ascending: Bool)?
    private var distinct: [String] = []
    private var limit: (count: Int, offset: Int)?

    init(_ type: String, _ classes: Classes, _ random: inout SeededRandom) {
        let properties = classes.of(type)
        let first = Self.condition(properties, &random)
        let second = Self.condition(properties, &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: condition = nil
        case 1: condition = first.and(second)
        case 2: condition = first.or(second)
        default: condition = first
        }
        let paths = Self.paths(properties)
        if Int.random(in: 0..<3, using: &random) == 0 {
            sort = (paths.randomElement(using: &random) ?? "number", Bool.random(using: &random))
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            distinct = Array(paths.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random)))
        }
        if Int.random(in: 0..<5, using: &random) == 0 {
            limit = (Int.random(in: 0..<5, using: &random), Int.random(in: 0..<3, using: &random))
        }
    }

    var text: String {
        var parts: [String] = []
        if let condition { parts.append("where \(condition.text)") }
        if let sort { parts.append("sorted by \(sort.path) \(sort.ascending ? "up" : "down")") }
        if !distinct.isEmpty { parts.append("distinct by \(distinct)") }
        if let limit { parts.append("limit \(limit.count) offset \(limit.offset)") }
        return parts.joined(separator: " ")
    }

    var isSorted: Bool { sort != nil }

    func apply(_ members: Results<ObjectBase>) -> Results<ObjectBase> {
        var results = members
        if let condition { results = results.filter(condition.text) }
        if let sort { results = results.sorted(byKeyPath: sort.path, ascending: sort.ascending) }
        if !distinct.isEmpty { results = results.distinct(by: distinct) }
        if let limit { results = results.limit(limit.count, offset: limit.offset) }
        return results
    }

    func apply(_ members: [Int], _ model: ModelState) -> [Int] {
        var rows = members.filter { condition?.holds(model, $0) ?? true }
        if let sort {
            rows = rows.enumerated().sorted { left, right in
                let values = (
                    Self.value(sort.path, left.element, model), Self.value(sort.path, right.element, model)
                )
                if values.0 == values.1 { return left.offset < right.offset }
                return Self.isLess(values.0, values.1, isBehindLink: sort.path.contains(".")) == sort.ascending
            }.map(\.element)
        }
        if !distinct.isEmpty {
            var known: Set<[ModelState.Value]> = []
            rows = rows.filter { row in
                // An object is not a member if a link on a path of `distinct` is nil.
                if distinct.contains(where: { Self.lacksLink(of: $0, row, model) }) { return false }
                return known.insert(distinct.map { Self.value($0, row, model) }).inserted
            }
        }
        if let limit { rows = Array(rows.dropFirst(limit.offset).prefix(limit.count)) }
        return rows
    }

    /// The properties with one value, and the numbers of linked objects.
    private static func paths(_ properties: [Property]) -> [String] {
        properties.compactMap { property in
            guard case .single = property.kind, !property.name.hasPrefix("wide") else { return nil }
            return property.target == nil ? property.name : "\(property.name).number"
        }
    }

    private static func lacksLink(of path: String, _ row: Int, _ model: ModelState) -> Bool {
        guard let dot = path.firstIndex(of: ".") else { return false }
        return model.link(row, String(path[..<dot])) == nil
    }

    private static func value(_ path: String, _ row: Int, _ model: ModelState) -> ModelState.Value {
        let names = path.split(separator: ".").map(String.init)
        guard names.count == 2 else { return model.singleValue(row, path) }
        return model.link(row, names[0]).map { model.singleValue($0, names[1]) } ?? .none
    }

    /// Whether a value precedes another value in ascending order. Absent values come first, and objects without the link
    /// of the path come last.
    private static func isLess(_ left: ModelState.Value, _ right: ModelState.Value, isBehindLink: Bool) -> Bool {
        switch (left, right) {
        case (.number(let left), .number(let right)): left < right
        case (.text(let left), .text(let right)): left < right
        default: (left == .none) != isBehindLink
        }
    }

    private static func condition(_ properties: [Property], _ random: inout SeededRandom) -> Condition {
        let number = Double(Int.random(in: 0..<5, using: &random))
        let names = Set(properties.map(\.name))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return Condition(text: "number < 3") { ($0.number($1, "number") ?? 0) < 3 }
        case 1: return Condition(text: "number == \(Int(number))") { $0.number($1, "number") == number }
        case 2:
            return Condition(text: "number >= \(Int(number)) AND number < 4") { model, row in
                model.number(row, "number").map { $0 >= number && $0 < 4 } ?? false
            }
        case 3 where names.contains("text"):
            if number == 0 { return Condition(text: "text == nil") { $0.text($1, "text") == nil } }
            let text = ["A", "B"][Int(number) % 2]
            let sign = number < 3 ? "==" : "BEGINSWITH"
            return Condition(text: "text \(sign) '\(text)'") { $0.text($1, "text") == text }
        default: return linkCondition(properties, number, &random)
        }
    }

    private static func linkCondition(
        _ properties: [Property], _ number: Double, _ random: inout SeededRandom
    ) -> Condition {
        let links = properties.filter { $0.target != nil }
        let exceeds = { (model: ModelState, row: Int, name: String) in
            model.targets(row, name).contains { (model.number($0, "number") ?? 0) > 1 }
        }
        guard let link = links.randomElement(using: &random) else {
            return Condition(text: "number > 1") { ($0.number($1, "number") ?? 0) > 1 }
        }
        switch link.kind {
        case .single where number < 2:
            return Condition(text: "\(link.name) == nil") { $0.link($1, link.name) == nil }
        case .single: return Condition(text: "\(link.name).number > 1") { exceeds($0, $1, link.name) }
        case .many(isMap: true): return Condition(text: "number != 2") { $0.number($1, "number") != 2 }
        case .many, .inverse:
            if number < 2 {
                return Condition(text: "\(link.name).@count > 0") { !$0.targets($1, link.name).isEmpty }
            }
            return Condition(text: "ANY \(link.name).number > 1") { exceeds($0, $1, link.name) }
        }
    }
}
