import ConformanceModels
import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

/// Uses positions outside of collections. The library must stop the program with a message, before a check of the Swift
/// standard library stops it.
@Suite("positions outside of collections") struct BoundsTests {
    /// An operation on a list of one element, at a position outside of the list.
    struct Step: Sendable, CustomStringConvertible {
        let description: String
        let run: @Sendable (List<Int>, Int) -> Void
    }

    static let steps = [
        Step(description: "read") { list, position in _ = list[position] },
        Step(description: "assign") { list, position in list[position] = 1 },
        Step(description: "insert") { list, position in list.insert(1, at: position) },
        Step(description: "insert several") { list, position in list.insert(contentsOf: [1, 2], at: position) },
        Step(description: "remove") { list, position in list.remove(at: position) },
        Step(description: "replace") { list, position in list.replace(index: position, object: 1) },
        Step(description: "move from") { list, position in list.move(from: position, to: 0) },
        Step(description: "move to") { list, position in list.move(from: 0, to: position) },
        Step(description: "swap") { list, position in list.swapAt(0, position) },
        Step(description: "replace a range") { list, position in
            list.replaceSubrange(Swift.min(0, position)..<Swift.max(0, position), with: [])
        },
        Step(description: "remove a range") { list, position in
            list.removeSubrange(Swift.min(0, position)..<Swift.max(0, position))
        },
        Step(description: "move to an offset") { list, position in list.move(fromOffsets: [0], toOffset: position) },
        Step(description: "read several") { list, position in _ = list.objects(at: [0, position]) },
    ]

    @Test(
        "a position outside of a list stops the program, managed or unmanaged O42 O47", arguments: steps.indices,
        [-1, 7, .max])
    func lists(_ step: Int, _ position: Int) async {
        for isManaged in [false, true] {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                [step = step as Int, position = position as Int, isManaged = isManaged as Bool] in
                let lists = ScalarLists(id: 1, ints: [5])
                guard isManaged else { return Self.steps[step].run(lists.ints, position) }
                let test = try TestRealm(holding: lists)
                try test.realm.write { Self.steps[step].run(lists.ints, position) }
            }
            expectMessage(result, "is outside of \(isManaged ? "'ScalarLists.ints'" : "the list")")
        }
    }

    @Test("removing at an offset outside of a list stops the program O42", arguments: [false, true])
    func offsets(_ isManaged: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [isManaged = isManaged as Bool] in
            let lists = ScalarLists(id: 1, ints: [5])
            guard isManaged else { return lists.ints.remove(atOffsets: [0, 7]) }
            let test = try TestRealm(holding: lists)
            try test.realm.write { lists.ints.remove(atOffsets: [0, 7]) }
        }
        expectMessage(result, "the index 7 is outside of")
    }

    /// Closures that read a position of a collection, for each kind of collection.
    static let reads: [@Sendable (Realm, Int) -> Any?] = [
        { $0.objects(Node.self)[$1] },
        { $0.objects(Node.self).limit(1)[$1] },
        { $0.objects(Node.self).objects(at: [$1]) },
        { $0.objects(Node.self).first?.peers[$1] },
        { $0.objects(Node.self).first?.previous[$1] },
        { $0.objects(Node.self).sectioned(by: \.name)[$1] },
        { $0.objects(Node.self).sectioned(by: \.name)[section: 0, item: $1] },
        { $0.objects(PersonProjection.self)[$1] },
        { $0.objects(PersonProjection.self).first?.friendNames[$1] },
        { $0.dynamicObjects("Node")[$1] },
        { $0.dynamicObjects("Node").first?.dynamicList("children")[$1] },
        { $0.dynamicObjects("Node").first?.dynamicSet("peers")[$1] },
    ]

    @Test(
        "a position outside of a collection of another kind stops the program O40 O41 O45 O46",
        arguments: reads.indices, [-1, 7, .max])
    func others(_ read: Int, _ position: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [read = read as Int, position = position as Int] in
            let test = try TestRealm(holding: Node(id: 1), Person())
            _ = Self.reads[read](test.realm, position)
        }
        expectMessage(result, "the index \(position) is outside of")
    }
}
