import MartletSchema

extension SchemaDraft {
    /// Returns the location of an item in the Swift source.
    func span(of item: DraftItem) -> SourceSpan? {
        let key = item.owner
        if let object = object(key) {
            switch item {
            case .property(_, let name), .index(_, let name): return object.property(name)?.span
            case .ignored(_, let name): return object.ignored.first { $0.swiftName == name }?.span
            case .primaryKey: return object.primaryKey?.span
            default: return object.span
            }
        }
        if let enumeration = enumeration(key) {
            guard case .enumCase(_, let name) = item else { return enumeration.span }
            return enumeration.cases.first { $0.swiftName == name }?.span
        }
        let projection = projection(key)
        guard case .label(_, let name) = item else { return projection?.span }
        return projection?.labels.first { $0.swiftName == name }?.span
    }

    /// Returns the current name of an item in the schema, and the names in the same scope.
    func names(around item: DraftItem) -> (own: String, others: [String]) {
        let all: [(DraftItem, String)]
        switch item {
        case .type:
            all = files.flatMap { file in
                file.enums.map { (DraftItem.type($0.key), $0.name) }
                    + file.objects.map { (DraftItem.type($0.key), $0.name) }
                    + file.projections.map { (DraftItem.type($0.key), $0.name) }
            }
        case .property(let key, _), .ignored(let key, _), .index(let key, _), .primaryKey(let key):
            let object = object(key)
            all =
                (object?.properties ?? []).map { (.property(owner: key, name: $0.swiftName), $0.name) }
                + (object?.ignored ?? []).map { (.ignored(owner: key, name: $0.swiftName), $0.name) }
        case .enumCase(let key, _):
            all = (enumeration(key)?.cases ?? []).map { (.enumCase(owner: key, name: $0.swiftName), $0.name) }
        case .label(let key, _):
            let labels = self.projection(key)?.labels
            all = (labels ?? []).map { (.label(owner: key, name: $0.swiftName), $0.name) }
        }
        return (all.first { $0.0 == item }?.1 ?? "", all.filter { $0.0 != item }.map(\.1))
    }

    // MARK: Changes

    mutating func rename(_ item: DraftItem, to name: String) {
        changeObject(item.owner) { object in
            switch item {
            case .type: object.name = name
            case .property(_, let old): object.properties.change(where: { $0.swiftName == old }) { $0.name = name }
            case .ignored(_, let old): object.ignored.change(where: { $0.swiftName == old }) { $0.name = name }
            default: break
            }
        }
        for position in files.indices {
            files[position].enums.change(where: { $0.key == item.owner }) { enumeration in
                if case .enumCase(_, let old) = item {
                    enumeration.cases.change(where: { $0.swiftName == old }) { $0.name = name }
                } else {
                    enumeration.name = name
                }
            }
            files[position].projections.change(where: { $0.key == item.owner }) { projection in
                if case .label(_, let old) = item {
                    projection.labels.change(where: { $0.swiftName == old }) { $0.name = name }
                } else {
                    projection.name = name
                }
            }
        }
    }

    mutating func remove(_ item: DraftItem) {
        switch item {
        case .type(let key):
            for position in files.indices {
                files[position].enums.removeAll { $0.key == key }
                files[position].objects.removeAll { $0.key == key }
                files[position].projections.removeAll { $0.key == key }
            }
        case .property(let key, let name): changeObject(key) { $0.properties.removeLast { $0.swiftName == name } }
        case .ignored(let key, let name): changeObject(key) { $0.ignored.removeLast { $0.swiftName == name } }
        case .primaryKey(let key): changeObject(key) { $0.primaryKey = nil }
        case .index(let key, let name):
            changeObject(key) { $0.properties.change(where: { $0.swiftName == name }) { $0.isIndexed = false } }
        case .enumCase(let key, let name):
            for position in files.indices {
                files[position].enums.change(where: { $0.key == key }) {
                    $0.cases.removeLast { $0.swiftName == name }
                }
            }
        case .label(let key, let name):
            for position in files.indices {
                files[position].projections.change(where: { $0.key == key }) {
                    $0.labels.removeLast { $0.swiftName == name }
                }
            }
        }
    }

    private mutating func changeObject(_ key: String, _ change: (inout ObjectDraft) -> Void) {
        for position in files.indices { files[position].objects.change(where: { $0.key == key }, change) }
    }
}

extension Array {
    fileprivate mutating func change(where predicate: (Element) -> Bool, _ change: (inout Element) -> Void) {
        for position in indices where predicate(self[position]) { change(&self[position]) }
    }

    fileprivate mutating func removeLast(where predicate: (Element) -> Bool) {
        // If two items have the same name, the later item is the rejected duplicate.
        if let position = lastIndex(where: predicate) { remove(at: position) }
    }
}
