import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

extension ValueKind {
    /// Returns a Realm with one object for each value. The id of an object is the position of its value.
    private func filled<Root: Object>(_ type: Root.Type, _ name: String, _ values: [Value?]) throws -> TestRealm {
        let test = try TestRealm()
        try test.realm.write {
            for (id, value) in values.enumerated() {
                test.realm.create(type, value: ["id": id, name: value as Any])
            }
        }
        return test
    }

    private var present: [Value?] { values().map { $0 } }

    // MARK: Values

    func checkProperties() throws {
        if isEnum {
            try checkProperty(EnumHolder.self, name, present)
            try checkProperty(EnumHolder.self, optionalName, present + [nil])
        } else {
            try checkProperty(Scalars.self, name, present)
            if canBeOptional { try checkProperty(OptionalScalars.self, name, present + [nil]) }
        }
    }

    private func checkProperty<Root: Object>(_ type: Root.Type, _ name: String, _ values: [Value?]) throws {
        let test = try filled(type, name, values)
        let expected = values.map { stored($0) }
        try test.onNewThread { realm in
            #expect(realm.objects(type).map { stored($0[name]) } == expected)
        }
        #expect(test.realm.dynamicObjects(type.className()).map { stored($0[name]) } == expected)
        let first = try #require(test.realm.objects(type).first)
        for value in values.reversed() {
            try test.realm.write { first[name] = value }
            #expect(stored(first[name]) == stored(value))
        }
        let unmanaged = type.init()
        unmanaged[name] = values[0]
        #expect(stored(unmanaged[name]) == stored(values[0]))
    }

    // MARK: Queries

    func checkQueries() throws {
        let values = values()
        if isEnum {
            try compare(filled(EnumHolder.self, name, present), EnumHolder.self, name, values)
            try compareOptional(EnumHolder.self, optionalName)
        } else {
            try compare(filled(Scalars.self, name, present), Scalars.self, name, values)
            if canBeOptional { try compareOptional(OptionalScalars.self, name) }
        }
    }

    private func compareOptional<Root: Object & ModelObject>(_ type: Root.Type, _ name: String) throws {
        let test = try filled(type, name, present + [nil])
        try compare(test, type, name, values().map { Optional($0) })
        let all = test.realm.objects(type), field = Field<Root, Value?>(FieldPath(type), name)
        let last = values().count
        func ids(_ query: Query<Root>) -> [Int] { all.where { _ in query }.map { $0["id"] as? Int ?? -1 } }
        #expect(ids(field == nil) == [last] && ids(field != nil) == Array(0..<last))
        #expect(ids(field.in([nil])) == [last] && ids(field < nil) == [] && ids(field >= nil) == [])
        #expect(ids(field != values()[0]) == Array(1...last))
        #expect(all.filter("\(name) == nil").map { $0["id"] as? Int } == [last])
    }

    // The values are in ascending order. So the position of a value determines which objects a condition must find.
    private func compare<Root: Object & ModelObject, V: OrderedValue>(
        _ test: TestRealm, _ type: Root.Type, _ name: String, _ values: [V]
    ) throws {
        let all = test.realm.objects(type), field = Field<Root, V>(FieldPath(type), name)
        func check(_ query: Query<Root>, _ text: String, _ arguments: [Any?], _ expected: [Int]) {
            let typed = all.where { _ in query }.map { $0["id"] as? Int ?? -1 }
            #expect(typed.filter { $0 < values.count } == expected, "\(name) \(text) \(arguments), typed")
            let predicate = try? Realm.Predicate(parsing: "\(name) \(text)", arguments: arguments)
            let parsed = predicate.flatMap { try? all.filter($0) }?.map { $0["id"] as? Int ?? -1 }
            #expect(parsed?.filter { $0 < values.count } == expected, "\(name) \(text) \(arguments), as text")
        }
        for (position, value) in values.enumerated() {
            check(field == value, "== %@", [value], [position])
            check(field != value, "!= %@", [value], values.indices.filter { $0 != position })
            check(field < value, "< %@", [value], Array(0..<position))
            check(field <= value, "<= %@", [value], Array(0...position))
            check(field > value, "> %@", [value], Array((position + 1)..<values.count))
            check(field >= value, ">= %@", [value], Array(position..<values.count))
            check(field.in([value, values[0]]), "IN %@", [[value, values[0]]], position == 0 ? [0] : [0, position])
            check(
                field >= values[0] && field <= value, "BETWEEN {%@, %@}", [values[0], value], Array(0...position))
        }
        check(field.in([]), "IN {}", [], [])
        check(field == field, "== \(name)", [], Array(values.indices))
    }

    // MARK: Order

    func checkOrder() throws {
        if isEnum {
            try checkOrder(EnumHolder.self, name, EnumHolder.self, optionalName)
        } else if canBeOptional {
            try checkOrder(Scalars.self, name, OptionalScalars.self, name)
        } else {
            try checkSorting(Scalars.self, name, hasNil: false)
        }
    }

    private func checkOrder<First: Object & ModelObject, Second: Object & ModelObject>(
        _ required: First.Type, _ name: String, _ optional: Second.Type, _ optionalName: String
    ) throws {
        let values = values()
        let first = try checkSorting(required, name, hasNil: false).realm.objects(required)
        let field = Field<First, Value>(FieldPath(required), name)
        let present = (least: stored(values.first), greatest: stored(values.last))
        #expect(
            stored(first.min { _ in field }) == present.least && stored(first.max { _ in field }) == present.greatest)
        let second = try checkSorting(optional, optionalName, hasNil: true).realm.objects(optional)
        let other = Field<Second, Value?>(FieldPath(optional), optionalName)
        #expect(stored(second.min { _ in other }) == present.least)
        #expect(stored(second.max { _ in other }) == present.greatest)
        #expect(stored(second.filter("FALSEPREDICATE").max { _ in other }) == .null)
        let objects = Array(second)
        #expect(stored(List.of(objects).max(ofProperty: optionalName) as Value?) == present.greatest)
    }

    @discardableResult
    private func checkSorting<Root: Object & ModelObject>(
        _ type: Root.Type, _ name: String, hasNil: Bool
    ) throws -> TestRealm {
        let (values, count) = (values(), values().count)
        let all: [Value?] = values.reversed() + values + (hasNil ? [nil] : [])
        let test = try filled(type, name, all)
        let results = test.realm.objects(type)
        let absent: [StoredValue?] = hasNil ? [.null] : []
        let ascending = absent + values.flatMap { [stored($0), stored($0)] }
        #expect(results.sorted(byKeyPath: name).map { stored($0[name]) } == ascending)
        #expect(
            results.sorted(byKeyPath: name, ascending: false).map { stored($0[name]) } == Array(ascending.reversed()))
        #expect(results.distinct(by: [name]).map { $0["id"] as? Int } == Array(0..<count) + (hasNil ? [2 * count] : []))
        return test
    }
}

extension List where Element: ObjectBase {
    /// Returns an unmanaged list of these elements.
    fileprivate static func of(_ elements: [Element]) -> List<Element> {
        let list = List<Element>()
        list.append(objectsIn: elements)
        return list
    }
}
