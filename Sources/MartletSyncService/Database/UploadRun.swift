#if Postgres
    import MartletEngine
    import MartletPostgres
    import MartletSyncProtocol
    import MartletValues

    /// One attempt to apply the operations of an upload.
    struct UploadRun {
        let catalog: SyncCatalog
        let session: PostgresSession
        let origin: UploadOrigin
        /// The objects with operations that are not applied, and the reasons.
        private(set) var refused: [ObjectAddress: ObjectRefusal]
        /// The values that the upload has written, including values that the object already had. Nil means all values
        /// of an object that the upload has created.
        private(set) var written: [ObjectAddress: Set<ValuePath>?] = [:]
        /// The objects with operations that were applied.
        private var applied: Set<ObjectAddress> = []
        private var deleted: [ObjectAddress] = []
        private var links = UploadLinks()
        /// True if an object was refused after some of its operations were applied in an earlier savepoint. These
        /// operations cannot be undone alone, so another run has to begin.
        private var needsRestart = false

        /// The unique constraints that PostgreSQL checks after each statement instead of at the end.
        private let immediate: Set<String>
        /// If false, a failing operation fails the whole transaction.
        private let refusesObjects: Bool

        /// The error that requests another run, which applies the operations from the beginning, without the operations
        /// of the refused objects.
        struct Restart: Error {
            let refused: [ObjectAddress: ObjectRefusal]
            var immediate: Set<String> = []
        }

        init(
            catalog: SyncCatalog, session: PostgresSession, origin: UploadOrigin,
            refused: [ObjectAddress: ObjectRefusal], immediate: Set<String> = [], refusesObjects: Bool = true
        ) {
            self.immediate = immediate
            self.refusesObjects = refusesObjects
            self.catalog = catalog
            self.session = session
            self.origin = origin
            self.refused = refused
        }

        /// Applies operations in their order. If objects can be refused, consecutive operations of one object are applied
        /// in one savepoint.
        mutating func apply(_ operations: [SyncOperation]) throws {
            for constraint in immediate {
                let name = Deployment.relation(constraint, catalog.tableSchema)
                try session.execute("SET CONSTRAINTS \(name) IMMEDIATE")
            }
            var rest = operations[...]
            while let address = rest.first?.address {
                let same = rest.prefix { $0.address == address }
                rest = rest.dropFirst(same.count)
                guard let table = catalog.tables[address.type] else {
                    throw InvalidUpload("an operation names the unknown type \(address.type)")
                }
                if refused[address] != nil { continue }
                if refusesObjects {
                    try apply(Array(same), address, table)
                } else {
                    let row = try ObjectRow(address, table, catalog, session)
                    for operation in same { try apply(operation, row) }
                }
            }
            if needsRestart { throw Restart(refused: refused, immediate: immediate) }
        }

        private mutating func apply(
            _ operations: [SyncOperation], _ address: ObjectAddress, _ table: SyncTable
        ) throws {
            let before = (written: written[address], object: links.objects[address], deleted: deleted.count)
            func undo(_ run: inout UploadRun) {
                run.written[address] = before.written
                run.links.restore(before.object, address)
                run.deleted.removeLast(run.deleted.count - before.deleted)
            }
            var attempts = 0
            do {
                while true {
                    do {
                        try session.savepoint {
                            let row = try ObjectRow(address, table, catalog, session)
                            for operation in operations { try apply(operation, row) }
                        }
                        break
                    } catch let error as PostgresError where error.state == .uniqueViolation && attempts < 2 {
                        // Another transaction may have inserted the row in the meantime. The next attempt then updates
                        // the row.
                        attempts += 1
                        undo(&self)
                    }
                }
                applied.insert(address)
            } catch {
                guard let refusal = ObjectRefusal(error) else { throw error }
                undo(&self)
                if applied.contains(address) { needsRestart = true }
                // The run is discarded. Another object may have caused the violation with a value that the next run
                // does not write, so the next run decides about this object.
                if needsRestart, Self.dependsOnOthers(error), !applied.contains(address) { return }
                refused[address] = refusal
            }
        }

        private static func dependsOnOthers(_ error: any Error) -> Bool {
            [.uniqueViolation, .exclusionViolation].contains((error as? PostgresError)?.state)
        }

        private mutating func apply(_ operation: SyncOperation, _ row: ObjectRow) throws {
            switch operation {
            case .create(let address, let values):
                try set(values, of: address, row, mayInsert: true)
            case .update(let address, let values):
                try set(values, of: address, row, mayInsert: false)
            case .delete(let address):
                if try row.delete() {
                    deleted.append(address)
                    links.delete(address)
                } else if try row.isVisible() {
                    throw Self.notPermitted
                }
                written[address] = []
            case .add(let address, let path, let amount): try add(amount, at: path, address, row)
            case .insertElement(let address, let path, _, _), .removeElement(let address, let path, _),
                .setElement(let address, let path, _, _), .insertMember(let address, let path, _),
                .removeMember(let address, let path, _), .setEntry(let address, let path, _, _),
                .removeEntry(let address, let path, _):
                try apply(operation, at: path, address, row)
            }
        }

        // If the object was deleted, a change of its collections has no effect.
        private mutating func apply(
            _ operation: SyncOperation, at path: ValuePath, _ address: ObjectAddress, _ row: ObjectRow
        ) throws {
            let writer = try ElementWriter(row, path, origin)
            guard try lockIfExists(row, address) else { return }
            let isLink = row.table.collection(of: path.first)?.value.target != nil
            if try writer.apply(operation), isLink, let change = operation.elementChange {
                links.write(change.value, at: change.place, of: address)
            }
            note([], of: address)
        }

        // Additions have no conflicts. An addition to an object that was deleted has no effect.
        private mutating func add(
            _ amount: Int64, at path: ValuePath, _ address: ObjectAddress, _ row: ObjectRow
        ) throws {
            let properties = catalog.schema.types[row.table.type].properties
            guard path.count == 1, let position = row.table.position(of: path.first),
                properties[path.first].isCounter
            else {
                throw InvalidUpload("an operation adds to a property of '\(row.table.typeName)' that is not a counter")
            }
            guard try lockIfExists(row, address) else { return }
            try row.add(amount, to: row.table.columns[position])
            note([path], of: address)
        }

        /// Locks a row that the upload changes. Returns false if the row does not exist or the user cannot read it.
        ///
        /// - Throws: `ObjectRefusal` if the user can read the row, but cannot change it.
        private func lockIfExists(_ row: ObjectRow, _ address: ObjectAddress) throws -> Bool {
            // A row that this transaction has inserted needs no lock. The user may have no right to lock or read it.
            if case .some(.none) = written[address] { return true }
            if try row.lock() { return true }
            if try row.isVisible() { throw Self.notPermitted }
            return false
        }

        private mutating func note(_ paths: [ValuePath], of address: ObjectAddress) {
            if case .some(.none) = written[address] { return }
            written[address] = (written[address] ?? [])?.union(paths)
        }

        private mutating func set(
            _ values: [ValuePath: SyncValue], of address: ObjectAddress, _ row: ObjectRow, mayInsert: Bool
        ) throws {
            let fields = try row.fields(values)
            guard !mayInsert || fields.allSatisfy(\.members.isEmpty) else {
                throw InvalidUpload("a creation names a part of an embedded object")
            }
            // Another transaction may insert the row after the first attempt to lock it.
            for _ in 0..<2 {
                switch try row.locked(for: origin) {
                case .locked(let newer):
                    let winners = fields.filter { field in !newer.contains { $0.overlaps(field.path) } }
                    try row.update(winners)
                    addLinks(winners, values, row)
                    return note(winners.map(\.path), of: address)
                case .visible: continue
                case .absent: break
                }
                // If the object was deleted, an update has no effect.
                if !mayInsert { return }
                guard try row.insert(fields) else {
                    throw ObjectRefusal(.constraint, "a trigger of the database refuses the change")
                }
                written[address] = .some(nil)
                links.create(address)
                return addLinks(fields, values, row)
            }
            throw Self.notPermitted
        }

        private mutating func addLinks(
            _ fields: [ObjectRow.Field], _ values: [ValuePath: SyncValue], _ row: ObjectRow
        ) {
            // Links inside embedded objects and `AnyRealmValue` properties have no foreign keys, and are not checked.
            for field in fields where field.members.isEmpty && row.table.columns[field.position].target != nil {
                links.write(values[field.path], at: .property(field.path), of: row.address)
            }
        }

        private static let notPermitted = ObjectRefusal(.notPermitted, "the user may not make this change")

        /// Checks the links that the run has written, and the deferred constraints.
        ///
        /// - Throws: `Restart` if a link has no target that the user can read, or if a constraint does not hold. The
        ///   next run then refuses the objects concerned, or checks the constraint after each statement.
        func checkConstraints() throws {
            try checkLinks()
            do {
                try session.savepoint { _ = try session.query("SET CONSTRAINTS ALL IMMEDIATE") }
            } catch let error as PostgresError {
                guard let refusal = ObjectRefusal(error), !applied.isEmpty else { throw error }
                // Another transaction may have deleted the target of a link after the first check.
                if error.state == .foreignKeyViolation { try checkLinks() }
                let search = ConstraintViolators(catalog: catalog, session: session)
                var violators = try search.objects(error, applied: applied, deleted: deleted)
                // In the next run, PostgreSQL checks the constraint after each statement, so the failed statement shows
                // which object violates it. In such a run, two objects of the upload cannot exchange unique values, and
                // an object must be created before the links to it.
                if violators.isEmpty, let constraint = error.constraint, !immediate.contains(constraint),
                    try search.isDeferrable(error)
                {
                    throw Restart(refused: refused, immediate: immediate.union([constraint]))
                }
                if violators.isEmpty { violators = deleted.isEmpty ? applied : Set(deleted) }
                var all = refused
                for address in violators { all[address] = refusal }
                throw Restart(refused: all, immediate: immediate)
            }
        }

        /// True if the user can read the target of each link that the run has written.
        func hasTargets() throws -> Bool { try links.refused(catalog, session).isEmpty }

        private func checkLinks() throws {
            let found = try links.refused(catalog, session)
            if !found.isEmpty {
                throw Restart(refused: refused.merging(found) { first, _ in first }, immediate: immediate)
            }
        }
    }
#endif
