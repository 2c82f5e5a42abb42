import ConformanceModels
import Foundation
import KennelModels
import MartletTestSupport

@testable import Martlet

extension MisuseCases {
    static let queries = [
        MisuseCase(
            "indexOutOfRange",
            "the index 3 is outside of 'ScalarLists.ints', whose number of elements is 1. "
                + "Compare the index with 'count' first"
        ) {
            let lists = ScalarLists(id: 1, ints: [7])
            let test = try TestRealm(holding: lists)
            _ = lists.ints[3]
            _ = test
        },
        MisuseCase(
            "indexOutOfRange",
            "the index 0 is outside of the results, whose number of elements is 0. Compare the index with 'count' first"
        ) {
            _ = try TestRealm().realm.objects(Node.self)[0]
        },
        MisuseCase(
            "removedFromEmptyList",
            "an element cannot be removed from 'ScalarLists.ints', because it is empty. Check 'isEmpty' first"
        ) {
            let lists = ScalarLists(id: 1)
            let test = try TestRealm(holding: lists)
            try test.realm.write { lists.ints.removeLast() }
        },
        MisuseCase(
            "query",
            """
            this query is not valid: 'Keyless' has no property 'agee'; it has 'content'; see offset 0 of the query:
                agee > 5
                ^
            """
        ) {
            _ = try TestRealm().realm.objects(Keyless.self).filter("agee > 5")
        },
        MisuseCase(
            "query",
            "this query is not valid: 'name' has no full-text index: declare it with 'fullText: true'"
        ) {
            _ = try TestRealm().realm.objects(Indexed.self).where { $0.name.matches("a") }.count
        },
        MisuseCase("unmanagedQuery", "an unmanaged list cannot be queried. Add its object to a Realm first") {
            _ = Node().children.filter("id == 1")
        },
        MisuseCase(
            "unmanagedQuery",
            "linking objects of an unmanaged object cannot be queried. Add its object to a Realm first"
        ) {
            _ = Node().previous.filter("id == 1")
        },
        MisuseCase(
            "unknownPath",
            "'owner.name' is not a key path of 'Dog': 'Person' has no property 'name'. "
                + "Name properties of the schema, such as 'name' or 'owner.name'"
        ) {
            _ = try TestRealm().realm.objects(Dog.self).sorted(byKeyPath: "owner.name")
        },
        MisuseCase(
            "severalValues",
            "results cannot be sorted by 'siblings.name', because this path leads to several values. "
                + "Name a path that leads to one value, through to-one links only"
        ) {
            _ = try TestRealm().realm.objects(Dog.self).sorted(byKeyPath: "siblings.name")
        },
        MisuseCase(
            "severalValues",
            "results cannot be made distinct by 'tags', because this path leads to several values. "
                + "Name a path that leads to one value, through to-one links only"
        ) {
            _ = try TestRealm().realm.objects(Dog.self).distinct(by: ["tags"])
        },
        MisuseCase(
            "sortedByObject",
            "results cannot be sorted by 'owner': it is an object, and objects have no order. "
                + "Sort by one of its properties"
        ) {
            _ = try TestRealm().realm.objects(Dog.self).sorted(byKeyPath: "owner")
        },
        MisuseCase(
            "negativeLimit",
            "the limit -1 and the offset 0 are not valid. Pass two numbers that are not negative"
        ) {
            _ = try TestRealm().realm.objects(Node.self).limit(-1)
        },
        MisuseCase(
            "notAggregated",
            "'name' is 'String', which has no sum or average. "
                + "Name another property, such as one with numbers"
        ) {
            let _: Int = try TestRealm().realm.objects(Dog.self).sum(ofProperty: "name")
        },
        MisuseCase(
            "aggregateOfOtherType",
            "'name' has values that are not of type 'Int'. Use the type that the schema declares"
        ) {
            let _: Int? = try TestRealm(holding: Node(name: "a")).realm.objects(Node.self).max(ofProperty: "name")
        },
        MisuseCase(
            "sumTooLarge",
            "the sum does not fit 'Int'. Use a larger type, as in 'let sum: Double = results.sum(ofProperty: …)', "
                + "or convert the values and add them"
        ) {
            _ = ScalarLists(ints: [.max, 1]).ints.sum()
        },
        MisuseCase(
            "indexPath", "the index path has 1 index, but it needs a section and an item"
        ) {
            _ = try TestRealm().realm.objects(Node.self).sectioned(by: \.name)[IndexPath(index: 0)]
        },
        MisuseCase(
            "sectionedByComputed",
            "'…' is not a stored property, so results cannot be sectioned by it. "
                + "Section by a closure, and pass sort descriptors"
        ) {
            _ = try TestRealm().realm.objects(Node.self).sectioned(by: \.self)
        },
    ]
}
