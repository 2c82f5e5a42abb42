import ConformanceModels
import Martlet

/// The values of a node that an observer compares: the properties of the node, and the ids and names of the nodes to
/// which it links.
struct ObservedNode: Equatable, CustomStringConvertible {
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

/// Keeps a copy of a collection, applies the reported changes to the copy, and compares the copy with the collection.
final class Watcher {
    private let name: String
    private let isList: Bool
    private let read: () -> [ObservedNode]
    private let fail: (String) -> Never
    private var copy: [ObservedNode]?
    private var token: NotificationToken?

    /// - Parameter onCall: Called after each notification, when the copy has been checked.
    init<C: ObservableCollection & RealmCollection>(
        _ name: String, _ collection: C, fail: @escaping (String) -> Never, onCall: @escaping () -> Void = {}
    ) where C.Element == Node {
        self.name = name
        self.fail = fail
        isList = collection is List<Node>
        read = { collection.map(ObservedNode.init) }
        token = collection.observe { [unowned self] change in
            switch change {
            case .initial(let collection): begin(collection.map(ObservedNode.init))
            case .update(let collection, let deletions, let insertions, let modifications):
                apply(collection.map(ObservedNode.init), deletions, insertions, modifications)
            case .error(let error): fail("\(name): notified of the error \(error)")
            }
            onCall()
        }
    }

    private func begin(_ elements: [ObservedNode]) {
        if copy != nil { fail("\(name): two initial calls") }
        copy = elements
    }

    private func apply(_ elements: [ObservedNode], _ deletions: [Int], _ insertions: [Int], _ modifications: [Int]) {
        guard let old = copy else { fail("\(name): notified of a change before the initial call") }
        let change = "deletions \(deletions), insertions \(insertions), modifications \(modifications)"
        for positions in [deletions, insertions, modifications]
        where zip(positions, positions.dropFirst()).contains(where: { $0 >= $1 }) {
            fail("\(name): positions are not ascending: \(change)")
        }
        guard (deletions + modifications).allSatisfy(old.indices.contains),
            insertions.allSatisfy(elements.indices.contains)
        else { fail("\(name): positions outside of \(old.count) → \(elements.count) elements: \(change)") }
        let (gone, changed) = (Set(deletions), Set(modifications))
        var result = old.indices.filter { !gone.contains($0) }.map {
            (element: old[$0], isChanged: changed.contains($0))
        }
        for position in insertions {
            guard position <= result.count else { fail("\(name): too few insertions: \(change)") }
            result.insert((elements[position], false), at: position)
        }
        guard result.count == elements.count else {
            fail("\(name): \(result.count) elements instead of \(elements.count): \(change)")
        }
        for (known, actual) in zip(result, elements) {
            // In a list, a reported modification may be a replacement by another element.
            let isRight = known.isChanged ? isList || known.element.id == actual.id : known.element == actual
            if !isRight { fail("\(name): the copy has \(known.element) where the collection has \(actual): \(change)") }
        }
        copy = elements
    }

    var awaitsFirstCall: Bool { copy == nil }

    /// The first difference between the copy and the collection; nil if there is none. Not used inside a callback.
    var difference: String? {
        guard let copy else { return "\(name): no initial call" }
        let actual = read()
        if actual == copy { return nil }
        let place = zip(copy, actual).prefix { $0 == $1 }.count
        return "\(name): a change was not reported: the copy (\(copy.count) elements) has "
            + "\(copy.dropFirst(place).first, default: "nothing") where the collection (\(actual.count) elements) has "
            + "\(actual.dropFirst(place).first, default: "nothing")"
    }
}

/// Keeps the values of an object by applying the reported changes, and compares them with the object.
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
            case .change(_, let properties): for property in properties { apply(property) }
            case .deleted: fail("object: notified of a deletion, but no process deletes the object")
            case .error(let error): fail("object: notified of the error \(error)")
            }
            if let difference { fail("in a callback: \(difference)") }
        }
    }

    private func apply(_ property: PropertyChange) {
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

    /// The difference between the known values and the object; nil if there is none.
    var difference: String? {
        if (name, amount) == (node.name, node.amount) { return nil }
        return
            "object: the copy has \(ObservedNode.short(name)) and \(amount), the object has "
            + "\(ObservedNode.short(node.name)) and \(node.amount)"
    }
}
