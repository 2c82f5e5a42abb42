import ConformanceModels
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

/// After the first modification of a member, an observer of a list or set keeps the elements in memory and applies edits
/// to them. These tests compare the reported positions with a model.
@Suite("positions of modified members")
struct ListPositionTests {
    private struct Update {
        let deletions, insertions, modifications: [Int]
    }

    /// Checks that an update converts `old` to `new`, and that it reports exactly the modified elements that stayed.
    private func check(
        _ update: Update?, _ old: [Int], _ new: [Int], _ changed: Set<Int>, replaced: Bool, _ note: Comment
    ) {
        let update = update ?? Update(deletions: [], insertions: [], modifications: [])
        let deleted = Set(update.deletions)
        let inserted = Set(update.insertions)
        let kept = old.indices.filter { !deleted.contains($0) }
        let places = new.indices.filter { !inserted.contains($0) }
        guard kept.count == places.count else {
            Issue.record("the counts differ: \(note)")
            return
        }
        var expected: [Int] = []
        for (before, after) in zip(kept, places) {
            if old[before] != new[after] { #expect(replaced, note) }
            if old[before] != new[after] || changed.contains(old[before]) { expected.append(before) }
        }
        #expect(update.modifications == expected, note)
    }

    @Test(
        "random edits of a list and modifications of its members are reported at the right positions N56 N57",
        arguments: 0..<8)
    func list(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let test = try TestRealm()
        let owner = Node(id: -1)
        let people = (0..<40).map { Node(id: $0) }
        try test.realm.write {
            test.realm.add(owner)
            test.realm.add(people)
            for _ in 0..<(seed % 2 == 0 ? 60 : 900) { owner.children.append(people.randomElement(using: &random)!) }
        }
        var update: Update?
        let token = owner.children.observe { change in
            if case .update(_, let deletions, let insertions, let modifications) = change {
                update = Update(deletions: deletions, insertions: insertions, modifications: modifications)
            }
        }
        test.realm.refresh()
        for step in 0..<60 {
            let old = Array(owner.children.map(\.id))
            var changed: Set<Int> = []
            var isReplaced = false
            try test.realm.write {
                let list = owner.children
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let position = Int.random(in: 0..<list.count, using: &random)
                    switch Int.random(in: 0..<7, using: &random) {
                    case 0: list.append(people.randomElement(using: &random)!)
                    case 1: list.insert(people.randomElement(using: &random)!, at: position)
                    case 2: if list.count > 10 { list.remove(at: position) }
                    case 3: list.move(from: position, to: Int.random(in: 0..<list.count, using: &random))
                    case 4: list.swapAt(position, Int.random(in: 0..<list.count, using: &random))
                    case 5:
                        list[position] = people[(list[position].id + 1) % people.count]
                        isReplaced = true
                    default:
                        // The observer reads the list again after so many edits.
                        if step % 10 == 0 { list.append(objectsIn: (0..<300).map { people[$0 % people.count] }) }
                    }
                }
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    let person = people.randomElement(using: &random)!
                    person.amount += 1
                    changed.insert(person.id)
                }
            }
            update = nil
            test.realm.refresh()
            let new = Array(owner.children.map(\.id))
            check(update, old, new, changed, replaced: isReplaced, "seed \(seed), step \(step)")
        }
        withExtendedLifetime(token) {}
    }

    @Test("insertions into a set, removals and modifications of members are reported at the right positions N56")
    func set() throws {
        var random = SeededRandom(seed: 1)
        let test = try TestRealm()
        let owner = Node(id: -1)
        var people = (0..<300).map { Node(id: $0) }
        try test.realm.write {
            test.realm.add(owner)
            test.realm.add(people)
            owner.peers.insert(objectsIn: people.prefix(200))
        }
        var update: Update?
        let token = owner.peers.observe { change in
            if case .update(_, let deletions, let insertions, let modifications) = change {
                update = Update(deletions: deletions, insertions: insertions, modifications: modifications)
            }
        }
        test.realm.refresh()
        for step in 0..<60 {
            let old = Array(owner.peers.map(\.id))
            let person = people.randomElement(using: &random)!
            try test.realm.write {
                if step % 3 == 1 { owner.peers.insert(people.randomElement(using: &random)!) }
                if step % 3 == 2 { owner.peers.remove(people.randomElement(using: &random)!) }
                if step % 7 == 3, let first = owner.peers.first, first.id != person.id {
                    people.removeAll { $0.id == first.id }
                    test.realm.delete(first)
                }
                person.amount += 1
            }
            update = nil
            test.realm.refresh()
            let new = Array(owner.peers.map(\.id))
            check(update, old, new, [person.id], replaced: false, "step \(step)")
        }
        withExtendedLifetime(token) {}
    }
}
