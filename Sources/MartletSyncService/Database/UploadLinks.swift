#if Postgres
    import MartletEngine
    import MartletPostgres
    import MartletSyncProtocol
    import MartletValues

    /// The links that an upload has written, and the objects that it has created and deleted.
    ///
    /// PostgreSQL checks its foreign keys without row level security. So the service checks that the user can read the
    /// target of each link that an upload writes. The result is the same for a missing target and for a target that the
    /// user cannot read. So a user does not learn whether an object exists.
    struct UploadLinks {
        /// The place of a link in its object.
        enum Place: Hashable {
            case property(ValuePath)
            case position(ValuePath, ListPosition)
            case member(ValuePath, ObjectAddress)
            case key(ValuePath, SQLValue)

            fileprivate var property: Int {
                switch self {
                case .property(let path), .position(let path, _), .member(let path, _), .key(let path, _): path.first
                }
            }
        }

        fileprivate struct Link {
            let target: ObjectAddress
            let step: Int
        }

        /// The changes of one object by the upload.
        struct Object {
            fileprivate var links: [Place: Link] = [:]
            /// True if the object did not exist before the upload, and exists now.
            fileprivate(set) var isCreated = false
            fileprivate var wasDeleted = false
            /// The step of the newest deletion of the object. PostgreSQL has removed all earlier links to it.
            fileprivate var deletedAt = -1
        }

        private(set) var objects: [ObjectAddress: Object] = [:]
        private var step = 0

        mutating func create(_ address: ObjectAddress) {
            if objects[address]?.wasDeleted != true { objects[address, default: Object()].isCreated = true }
        }

        mutating func delete(_ address: ObjectAddress) {
            step += 1
            var object = objects[address] ?? Object()
            object.links = [:]
            if !object.isCreated { object.wasDeleted = true }
            object.isCreated = false
            object.deletedAt = step
            objects[address] = object
        }

        /// Notes a new value. Any value that is not a link replaces the link at this place.
        ///
        /// - Parameter value: nil if the element was removed.
        mutating func write(_ value: SyncValue?, at place: Place, of address: ObjectAddress) {
            guard case .link(let target)? = value else {
                objects[address]?.links[place] = nil
                return
            }
            step += 1
            objects[address, default: Object()].links[place] = Link(target: target, step: step)
        }

        /// Restores the earlier state of an object after its operations failed.
        mutating func restore(_ object: Object?, _ address: ObjectAddress) { objects[address] = object }

        /// The objects with a link to an object that does not exist or that the user cannot read. The creation of such
        /// an object is reverted. So the result also contains all objects with links to an object that the upload has
        /// created and that is in the result.
        func refused(_ catalog: SyncCatalog, _ session: PostgresSession) throws -> [ObjectAddress: ObjectRefusal] {
            let missing = try missingTargets(catalog, session)
            var refused: [ObjectAddress: ObjectRefusal] = [:]
            var holders: [ObjectAddress: [(holder: ObjectAddress, place: Place)]] = [:]
            var next: [ObjectAddress] = []
            func refuse(_ holder: ObjectAddress, _ place: Place) {
                guard refused[holder] == nil else { return }
                let type = catalog.schema.types[holder.type]
                refused[holder] = ObjectRefusal(
                    .constraint,
                    "the link '\(type.name).\(type.properties[place.property].name)' leads to no object that the user can read"
                )
                next.append(holder)
            }
            for (holder, object) in objects {
                for (place, link) in object.links where isPresent(link) {
                    if missing.contains(link.target) {
                        refuse(holder, place)
                    } else if objects[link.target]?.isCreated == true {
                        holders[link.target, default: []].append((holder, place))
                    }
                }
            }
            while let address = next.popLast() {
                for (holder, place) in holders[address] ?? [] { refuse(holder, place) }
            }
            return refused
        }

        private func isPresent(_ link: Link) -> Bool { link.step > objects[link.target]?.deletedAt ?? -1 }

        // Reads the targets of each type with one query. Leaves out objects that this upload has created, because the
        // user may not have the right to read them.
        private func missingTargets(
            _ catalog: SyncCatalog, _ session: PostgresSession
        ) throws -> Set<ObjectAddress> {
            var targets: [Int: Set<ObjectAddress>] = [:]
            for object in objects.values {
                for link in object.links.values
                where isPresent(link) && objects[link.target]?.isCreated != true {
                    targets[link.target.type, default: []].insert(link.target)
                }
            }
            var missing: Set<ObjectAddress> = []
            for (type, addresses) in targets.sorted(by: { $0.key < $1.key }) {
                guard let table = catalog.tables[type] else { continue }
                let all = Array(addresses)
                let keys = try all.map { try table.key.type.encode($0.key) }
                let result = try session.query(
                    """
                    SELECT n FROM unnest($1) WITH ORDINALITY AS wanted (key, n) WHERE NOT EXISTS
                    (SELECT FROM \(catalog.relation(table)) t WHERE t.\(table.key.quoted) = wanted.key)
                    """, [.array(keys, of: table.key.type.base)])
                for row in result.rows { missing.insert(all[Int(try row.bigint(0)) - 1]) }
            }
            return missing
        }
    }

    extension SyncOperation {
        /// The element that the operation changes, and its new value; nil for an operation that changes no element.
        var elementChange: (place: UploadLinks.Place, value: SyncValue?)? {
            switch self {
            case .create, .update, .delete, .add: nil
            case .insertElement(_, let path, let position, let value),
                .setElement(_, let path, let position, let value):
                (.position(path, position), value)
            case .removeElement(_, let path, let position): (.position(path, position), nil)
            case .insertMember(_, let path, .link(let target)): (.member(path, target), .link(target))
            case .removeMember(_, let path, .link(let target)): (.member(path, target), nil)
            case .insertMember, .removeMember: nil
            case .setEntry(_, let path, let key, let value): (.key(path, .text(key)), value)
            case .removeEntry(_, let path, let key): (.key(path, .text(key)), nil)
            }
        }
    }
#endif
