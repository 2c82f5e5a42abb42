import MartletSQLite

/// Pins versions, and adopts schema changes of other processes.
extension StoreCoordinator {
    /// Pins the newest version. If the version that was read when the file was opened is still pinned, this method
    /// returns a handle of that version instead. The first statement of the transaction reads the version row, and pins
    /// the version in this row.
    ///
    /// - Throws: `.schemaMismatch` if another process changed types that this process uses. Versions that are already
    ///   pinned remain readable.
    package func openSnapshot() throws(EngineError) -> SnapshotHandle {
        try EngineError.wrapping(path) {
            if let (connection, meta) = locked({ $0.takeInitialSnapshot() }) { return try pinned(connection, meta) }
            return try pin(takeConnection())
        }
    }

    /// Releases the version that was read when the file was opened. A Realm that is opened after that gets the newest
    /// version.
    func unpinOpened() {
        #if MARTLET_SEEDED_BUGS
            if SeededRace.isOn(.openedKept) { return }
        #endif
        if let (connection, _) = locked({ $0.takeInitialSnapshot() }) { returnConnection(connection) }
    }

    /// Ends the transaction of the connection, if any, and pins the newest version.
    ///
    /// - Parameter isCounted: true to throw if more versions than allowed are in use, or if the file was replaced after
    ///   it was opened.
    func pin(_ connection: Connection, isCounted: Bool = true) throws -> SnapshotHandle {
        if connection.isInTransaction { try connection.run("ROLLBACK") }
        environment.yield(.beforePin)
        try connection.run("BEGIN")
        var meta = try isCounted ? meta(connection) : Catalog.meta(connection)
        if meta.epoch < locked({ $0.epoch }) {
            // Another thread has already read a newer schema from a newer version. Begins the transaction again, to pin
            // a version with this schema.
            try connection.run("ROLLBACK")
            try connection.run("BEGIN")
            meta = try Catalog.meta(connection)
        }
        try adoptSchema(meta, connection)
        return try pinned(connection, meta, isCounted: isCounted)
    }

    /// Reads the version row, and throws if the file was replaced after it was opened. Called without the write lock.
    func meta(_ connection: Connection) throws -> Catalog.Meta {
        do {
            let meta = try Catalog.meta(connection)
            try checkForReplacement(connection)
            return meta
        } catch {
            // If another file has replaced this file, the read can fail as if the file were damaged. This check then
            // throws a more specific error.
            try checkForReplacement(connection)
            throw error
        }
    }

    private func pinned(
        _ connection: Connection, _ meta: Catalog.Meta, isCounted: Bool = true
    ) throws -> SnapshotHandle {
        let handle = makeHandle(connection, meta)
        environment.yield(.afterPin)
        if isCounted { try checkVersionLimit(adding: 0) }
        return handle
    }

    func makeHandle(_ connection: Connection, _ meta: Catalog.Meta) -> SnapshotHandle {
        let version = meta.version
        let handle = SnapshotHandle(
            version: version, epoch: meta.epoch, pinnedAtNanoseconds: environment.now(), connection: connection,
            stopForkedChild: environment.stopForkedChild
        ) {
            [self] id, connection in
            // The connection must be returned before `unpin` checks whether the log is still in use.
            returnConnection(connection)
            environment.yield(.beforeUnpin)
            unpin(id, version)
        }
        locked { state in
            state.pinned[version, default: 0] += 1
            state.handles[ObjectIdentifier(handle)] = WeakHandle(handle)
            state.newestVersion = max(state.newestVersion, version)
        }
        warnOfPins()
        return handle
    }

    /// Removes the connection from a handle and returns the connection. The caller holds the only reference to the
    /// handle. Returns nil if the handle has no connection.
    func takeConnection(from handle: SnapshotHandle) -> Connection? {
        requireSameProcess()
        guard let connection = handle.takeConnection() else { return nil }
        unpin(ObjectIdentifier(handle), handle.version)
        return connection
    }

    private func unpin(_ id: ObjectIdentifier, _ version: Version) {
        #if MARTLET_SEEDED_BUGS
            if SeededRace.isOn(.countTorn) {
                let count = locked { $0.pinned[version] } ?? 1
                environment.yield(.beforeUnpin)
                return locked { state in
                    state.handles[id] = nil
                    state.pinned[version] = count > 1 ? count - 1 : nil
                }
            }
        #endif
        let isLogReleased = locked { state in
            state.handles[id] = nil
            if let count = state.pinned[version] { state.pinned[version] = count > 1 ? count - 1 : nil }
            guard state.isLogHeldByOldVersion, state.pinned.keys.allSatisfy({ $0 > version }) else { return false }
            state.isLogHeldByOldVersion = false
            return true
        }
        // A checkpoint is started here because there may be no further commit.
        if isLogReleased { checkpointSoon() }
    }

    // MARK: Schema changes of other processes

    /// Compares the epoch of a new snapshot with the known epoch. Adopts types that other processes have added. If
    /// types that this process uses have changed, this process can no longer read or write the file, and this method
    /// throws.
    func adoptSchema(_ meta: Catalog.Meta, _ connection: Connection) throws {
        let (epoch, declared, overlays) = locked { ($0.epoch, $0.declared, $0.overlays) }
        guard meta.epoch != epoch else { return }
        var types = try Catalog.types(connection)
        for overlay in overlays {
            guard overlay.matches(types) else {
                throw EngineError(
                    .schemaMismatch, path: path,
                    "another process has added or changed types of the file since it was opened with 'readOnly'; "
                        + "close it and open it again")
            }
            types = overlay.types(types)
        }
        let found = Dictionary(types.map { ($0.type.name, $0.type) }, uniquingKeysWith: { first, _ in first })
        let changed = declared.values.filter { found[$0.name]?.isStorageCompatible(with: $0) != true }.map(\.name)
            .sorted()
        guard changed.isEmpty else {
            throw EngineError(
                .schemaMismatch, path: path,
                "another process has changed '\(changed.joined(separator: "', '"))' in the file since it was opened, "
                    + "so this process can no longer read or write the file; close the file and open it with the "
                    + "program's newest version")
        }
        locked { state in
            guard meta.epoch > state.epoch else { return }
            state.schema = DatabaseSchema(types)
            state.epoch = meta.epoch
        }
    }
}

extension StoreCoordinator.State {
    mutating func takeInitialSnapshot() -> (connection: Connection, meta: Catalog.Meta)? {
        defer { initialSnapshot = nil }
        return initialSnapshot
    }
}
