import ConformanceModels
import Martlet

/// A node as an observer sees it, with what a change of its neighbours changes in it.
struct Seen: Equatable, CustomStringConvertible {
    let id: Int
    let name: String
    let amount: Double
    let next: String?
    let children: [String]

    init(_ node: Node) {
        id = node.id
        name = node.name
        amount = node.amount
        next = node.next.map { "\($0.id) \($0.name)" }
        children = node.children.map { "\($0.id) \($0.name)" }
    }

    var description: String {
        Self.short("\(id) '\(name)' \(amount) next '\(next ?? "")' children ")
            + "\(children.map { Self.short($0, 20) })"
    }

    static func short(_ text: String, _ length: Int = 80) -> String {
        text.count > length ? "\(text.prefix(length))…" : text
    }
}

/// Keeps a copy of a collection, changes it by what it is told alone, and holds it against what there is.
final class Watcher {
    private let name: String
    private let isList: Bool
    private let read: () -> [Seen]
    private let fail: (String) -> Never
    private var copy: [Seen]?
    private var token: NotificationToken?

    /// - Parameter whenTold: called after the copy was found to be right.
    init<C: ObservableCollection & RealmCollection>(
        _ name: String, _ collection: C, fail: @escaping (String) -> Never, whenTold: @escaping () -> Void = {}
    ) where C.Element == Node {
        self.name = name
        self.fail = fail
        isList = collection is List<Node>
        read = { collection.map(Seen.init) }
        token = collection.observe { [unowned self] change in
            switch change {
            case .initial(let collection): begin(collection.map(Seen.init))
            case .update(let collection, let deletions, let insertions, let modifications):
                follow(collection.map(Seen.init), deletions, insertions, modifications)
            case .error(let error): fail("\(name): was told of an error: \(error)")
            }
            whenTold()
        }
    }

    private func begin(_ elements: [Seen]) {
        if copy != nil { fail("\(name): two initial calls") }
        copy = elements
    }

    private func follow(_ elements: [Seen], _ deletions: [Int], _ insertions: [Int], _ modifications: [Int]) {
        guard let old = copy else { fail("\(name): told of a change before the initial call") }
        let told = "deletions \(deletions), insertions \(insertions), modifications \(modifications)"
        for positions in [deletions, insertions, modifications]
        where zip(positions, positions.dropFirst()).contains(where: { $0 >= $1 }) {
            fail("\(name): not ascending: \(told)")
        }
        guard (deletions + modifications).allSatisfy(old.indices.contains),
            insertions.allSatisfy(elements.indices.contains)
        else { fail("\(name): outside of \(old.count) → \(elements.count) elements: \(told)") }
        let (gone, changed) = (Set(deletions), Set(modifications))
        var result = old.indices.filter { !gone.contains($0) }.map {
            (element: old[$0], isChanged: changed.contains($0))
        }
        for position in insertions {
            guard position <= result.count else { fail("\(name): a gap: \(told)") }
            result.insert((elements[position], false), at: position)
        }
        guard result.count == elements.count else { fail("\(name): \(result.count) ≠ \(elements.count): \(told)") }
        for (mine, theirs) in zip(result, elements) {
            // A modification of a list may put another element into the place.
            let isRight = mine.isChanged ? isList || mine.element.id == theirs.id : mine.element == theirs
            if !isRight { fail("\(name): knows \(mine.element), but there is \(theirs): \(told)") }
        }
        copy = elements
    }

    var awaitsFirstCall: Bool { copy == nil }

    /// What it was not told of, outside of callbacks; nil when it knows all.
    var difference: String? {
        guard let copy else { return "\(name): no initial call" }
        let there = read()
        if there == copy { return nil }
        let place = zip(copy, there).prefix { $0 == $1 }.count
        return "\(name): a change was not told: knows \(copy.dropFirst(place).first, default: "nothing"), but there is "
            + "\(there.dropFirst(place).first, default: "nothing"), of \(copy.count) → \(there.count)"
    }
}

/// Keeps the values of an object by what it is told alone.
final class ObjectWatcher {
    private let node: Node
    private let fail: (String) -> Never
    private var (name, amount) = ("", 0.0)
    private var token: NotificationToken?

    init(_ node: Node, fail: @escaping (String) -> Never) {
        self.node = node
        self.fail = fail
        (name, amount) = (node.name, node.amount)
        token = node.observe { [unowned self] change in
            switch change {
            case .change(_, let properties): for property in properties { follow(property) }
            case .deleted: fail("object: told of a deletion that never was")
            case .error(let error): fail("object: was told of an error: \(error)")
            }
            if let difference { fail("in a callback: \(difference)") }
        }
    }

    private func follow(_ property: PropertyChange) {
        switch property.name {
        case "name":
            if property.oldValue as? String != name { fail("object: the old name was \(name), not \(property)") }
            name = property.newValue as? String ?? ""
        case "amount":
            if property.oldValue as? Double != amount { fail("object: the old amount was \(amount), not \(property)") }
            amount = property.newValue as? Double ?? 0
        default: break
        }
    }

    /// What it was not told of; nil when it knows all.
    var difference: String? {
        if (name, amount) == (node.name, node.amount) { return nil }
        return
            "object: knows \(Seen.short(name)) and \(amount), but there is \(Seen.short(node.name)) and \(node.amount)"
    }
}
