import MartletEngine

// Functions for nested values. A value in memory has no depth limit, so these functions do not recurse. Recursive code
// in other files calls `requireAllowedDepth` first.

extension AnyRealmValue: Equatable {
    /// Values are equal if their kinds and contents are equal.
    ///
    /// - Complexity: O(n) in the number of nested values.
    public static func == (left: AnyRealmValue, right: AnyRealmValue) -> Bool {
        var rest = [(left, right)]
        while let (left, right) = rest.popLast() {
            switch (left, right) {
            case (.none, .none): continue
            case (.bool(let left), .bool(let right)): if left != right { return false }
            case (.int(let left), .int(let right)): if left != right { return false }
            case (.float(let left), .float(let right)): if left != right { return false }
            case (.double(let left), .double(let right)): if left != right { return false }
            case (.string(let left), .string(let right)): if left != right { return false }
            case (.data(let left), .data(let right)): if left != right { return false }
            case (.date(let left), .date(let right)): if left != right { return false }
            case (.decimal128(let left), .decimal128(let right)): if left != right { return false }
            case (.objectId(let left), .objectId(let right)): if left != right { return false }
            case (.uuid(let left), .uuid(let right)): if left != right { return false }
            case (.object(let left), .object(let right)): if left != right { return false }
            case (.list(let left), .list(let right)):
                if left.count != right.count { return false }
                rest += zip(left, right)
            case (.map(let left), .map(let right)):
                if left.count != right.count { return false }
                for (key, value) in left {
                    guard let other = right[key] else { return false }
                    rest.append((value, other))
                }
            default: return false
            }
        }
        return true
    }
}

extension AnyRealmValue: Hashable {
    /// Hashes the kind and the contents.
    ///
    /// - Complexity: O(n) in the number of nested values, plus the sorting of map keys.
    public func hash(into hasher: inout Hasher) {
        var rest = [self]
        while let value = rest.popLast() {
            hasher.combine(value.kind)
            switch value {
            case .none: break
            case .bool(let value): hasher.combine(value)
            case .int(let value): hasher.combine(value)
            case .float(let value): hasher.combine(value)
            case .double(let value): hasher.combine(value)
            case .string(let value): hasher.combine(value)
            case .data(let value): hasher.combine(value)
            case .date(let value): hasher.combine(value)
            case .decimal128(let value): hasher.combine(value)
            case .objectId(let value): hasher.combine(value)
            case .uuid(let value): hasher.combine(value)
            case .object(let value): hasher.combine(value)
            case .list(let values):
                hasher.combine(values.count)
                rest += values
            case .map(let entries):
                hasher.combine(entries.count)
                // The entries are not sorted by the bytes of their keys, because equal keys may consist of different
                // code points.
                for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
                    hasher.combine(key)
                    rest.append(value)
                }
            }
        }
    }
}

extension AnyRealmValue {
    /// True if more lists and maps are nested than a file can store.
    var isNestedTooDeep: Bool {
        var level = nestedCollections
        var depth = isCollection ? 1 : 0
        while !level.isEmpty {
            depth += 1
            if depth > AnyValue.maximumDepth { return true }
            level = level.flatMap(\.nestedCollections)
        }
        return false
    }

    /// Traps if more lists and maps are nested than a file can store.
    @inline(__always)
    func requireAllowedDepth() {
        if isCollection, isNestedTooDeep { Misuse.nestedTooDeep(limit: AnyValue.maximumDepth) }
    }

    private var isCollection: Bool {
        switch self {
        case .list, .map: true
        default: false
        }
    }

    // The lists and maps that are elements of this list or map.
    private var nestedCollections: [AnyRealmValue] {
        switch self {
        case .list(let values): values.filter(\.isCollection)
        case .map(let entries): entries.values.filter(\.isCollection)
        default: []
        }
    }
}
