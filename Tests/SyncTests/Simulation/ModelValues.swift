import MartletSyncProtocol
import MartletValues

typealias ModelValues = [ValuePath: SyncValue]
typealias ModelRows = [ObjectAddress: ModelValues]

extension ModelValues {
    /// Writes a value. If the path leads into an embedded object, this method changes the embedded object. It writes
    /// nothing if there is no embedded object.
    mutating func write(_ value: SyncValue, at path: ValuePath) {
        guard path.properties.count > 1, let first = path.properties.first else { return self[path] = value }
        guard let whole = self[ValuePath(first)] else { return }
        self[ValuePath(first)] = whole.replacing(path.properties.dropFirst(), by: value)
    }

    /// Adds an amount to a counter.
    mutating func add(_ amount: Int64, at path: ValuePath) {
        guard case .scalar(.integer(let number)) = self[path] ?? .scalar(.integer(0)) else { return }
        self[path] = .scalar(.integer(number + amount))
    }

    /// The value at a path, which may lead into an embedded object.
    func value(at path: ValuePath) -> SyncValue? {
        var value = self[ValuePath(path.properties[0])]
        for index in path.properties.dropFirst() {
            guard case .embedded(let values)? = value, values.indices.contains(index) else { return nil }
            value = values[index]
        }
        return value
    }
}

extension SyncValue {
    fileprivate func replacing(_ path: ArraySlice<Int>, by value: SyncValue) -> SyncValue {
        guard let first = path.first else { return value }
        guard case .embedded(var values) = self, values.indices.contains(first) else { return self }
        values[first] = values[first].replacing(path.dropFirst(), by: value)
        return .embedded(values)
    }

    /// The value as a file shows it: a link to an object that is not in the file is nil.
    ///
    /// - Parameter isShown: whether the object is in the file.
    func shown(_ isShown: (ObjectAddress) -> Bool) -> SyncValue {
        switch self {
        case .scalar: self
        case .link(let target): isShown(target) ? self : .null
        case .embedded(let values):
            .embedded(
                values.enumerated().map { index, value in
                    guard values.count == Sample.stopSize, index == Sample.nears, case .list(let links) = value else {
                        return value.shown(isShown)
                    }
                    return .list(links.filter { $0.isShown(isShown) })
                })
        // A list of links has no element for an object that is not in the file.
        case .list where elements?.isEmpty == false:
            .elements(
                (elements ?? []).filter { $0.value.isShown(isShown) }.map {
                    ListElement(position: $0.position, value: $0.value.shown(isShown))
                })
        case .list(let values): .list(values.map { $0.shown(isShown) })
        case .map(let entries): .map(entries.map { MapEntry(key: $0.key, value: $0.value.shown(isShown)) })
        }
    }
}

extension SyncValue {
    fileprivate func isShown(_ isShown: (ObjectAddress) -> Bool) -> Bool {
        if case .link(let target) = self { isShown(target) } else { true }
    }
}

/// The foreign keys of the model server: the link properties of each type, and whether the deletion of a target deletes
/// the object.
enum ModelForeignKeys {
    static let all: [Int: [(path: ValuePath, cascades: Bool)]] = [
        0: [(ValuePath(3), false), (ValuePath(4), true)], 1: [(ValuePath(2), false)],
    ]
}
