import MartletSyncProtocol
import MartletValues

/// The kind of a collection in the simulation. As in messages, the value of a collection property is the whole
/// collection.
enum ModelCollection {
    case list, set, map

    /// The collections of `Item`, by the numbers of their properties.
    static let item: [Int: ModelCollection] = [
        Sample.tags: .list, Sample.owners: .list, Sample.marks: .set, Sample.scores: .map, Sample.stops: .list,
        Sample.named: .map,
    ]
    /// The collections of the objects of simulations without files, by the numbers of their properties.
    static let plain: [Int: ModelCollection] = [30: .list, 31: .set, 32: .map]

    var empty: SyncValue { self == .map ? .map([]) : .list([]) }

    /// Identifies an element in its collection.
    struct Element: Hashable {
        let path: ValuePath
        let key: SQLValue
    }
}

extension SyncOperation {
    /// The element that the operation changes; nil if the operation does not change an element of a collection.
    var element: ModelCollection.Element? {
        switch self {
        case .insertElement(_, let path, let position, _), .setElement(_, let path, let position, _),
            .removeElement(_, let path, let position):
            .init(path: path, key: .blob(position.bytes))
        case .insertMember(_, let path, let value), .removeMember(_, let path, let value):
            .init(path: path, key: .text("\(value)"))
        case .setEntry(_, let path, let key, _), .removeEntry(_, let path, let key):
            .init(path: path, key: .text(key))
        default: nil
        }
    }

    /// Returns this operation with another position. Returns an operation without a position unchanged.
    func at(_ position: ListPosition) -> SyncOperation {
        switch self {
        case .insertElement(let address, let path, _, let value): .insertElement(address, path, position, value)
        case .setElement(let address, let path, _, let value): .setElement(address, path, position, value)
        case .removeElement(let address, let path, _): .removeElement(address, path, position)
        default: self
        }
    }
}

extension ModelValues {
    /// Applies an operation that changes an element of a collection. Afterwards, empty collections have no values, and
    /// the members of a set are sorted.
    mutating func change(_ operation: SyncOperation) {
        switch operation {
        case .insertElement(_, let path, let position, let value):
            setElement(ListElement(position: position, value: value), at: path)
        case .setElement(_, let path, let position, let value):
            guard elements(at: path).contains(where: { $0.position == position }) else { return }
            setElement(ListElement(position: position, value: value), at: path)
        case .removeElement(_, let path, let position):
            self[path] = .elements(elements(at: path).filter { $0.position != position })
        case .insertMember(_, let path, let value):
            self[path] = .list(Self.sorted((self[path]?.members ?? []).filter { $0 != value } + [value]))
        case .removeMember(_, let path, let value):
            self[path] = .list((self[path]?.members ?? []).filter { $0 != value })
        case .setEntry(_, let path, let key, let value):
            let others = (self[path]?.entries ?? []).filter { $0.key != key }
            self[path] = .map(MapEntry.sorted(others + [MapEntry(key: key, value: value)]))
        case .removeEntry(_, let path, let key):
            self[path] = .map((self[path]?.entries ?? []).filter { $0.key != key })
        default: return
        }
        self = normalized
    }

    func elements(at path: ValuePath) -> [ListElement] { self[path]?.elements ?? [] }

    private mutating func setElement(_ element: ListElement, at path: ValuePath) {
        let others = elements(at: path).filter { $0.position != element.position }
        self[path] = .elements((others + [element]).sorted { $0.position < $1.position })
    }

    static func sorted(_ members: [SyncValue]) -> [SyncValue] { members.sorted { "\($0)" < "\($1)" } }

    /// The values without empty collections.
    var normalized: ModelValues { filter { !$0.value.isEmptyCollection } }

    /// The values without collections.
    func withoutCollections(_ collections: [Int: ModelCollection]) -> ModelValues {
        filter { collections[$0.key.properties[0]] == nil }
    }

    /// The value of an element; nil if its collection does not contain the element.
    func value(of element: ModelCollection.Element) -> SyncValue? {
        switch self[element.path] {
        case .map(let entries)?: return entries.first { .text($0.key) == element.key }?.value
        case let value?:
            if let elements = value.elements {
                return elements.first { .blob($0.position.bytes) == element.key }?.value
            }
            return value.members?.first { .text("\($0)") == element.key }
        case nil: return nil
        }
    }
}

extension SyncValue {
    var isEmptyCollection: Bool { self == .list([]) || self == .map([]) }

    /// The elements of a list or map of embedded objects, with their positions or keys. Nil for other values.
    var embeddedElements: [(key: SQLValue, value: SyncValue)]? {
        let found: [(key: SQLValue, value: SyncValue)]
        if case .map(let entries) = self {
            found = entries.map { (.text($0.key), $0.value) }
        } else {
            found = (elements ?? []).map { (.blob($0.position.bytes), $0.value) }
        }
        let hasObject = found.contains { if case .embedded = $0.value { true } else { false } }
        return hasObject ? found : nil
    }
}
