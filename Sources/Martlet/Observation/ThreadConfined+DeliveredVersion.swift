import MartletEngine

extension ThreadConfined {
    /// Freezes the value, as `freeze()` does. Inside a callback, the value is frozen at the version that the callback
    /// reports, even if an earlier callback has written a newer version.
    package func frozenAtDeliveredVersion(fileID: StaticString = #fileID, line: UInt = #line) -> Self {
        guard !isFrozen, let context = realm?.context, let snapshot = context.pastCallbackSnapshot,
            let locator = _locator(), let frozen = locator.find(context.frozen(at: snapshot, fileID, line)) as? Self
        else { return freeze(fileID: fileID, line: line) }
        return frozen
    }
}

extension RealmContext {
    /// The version that the current callback reports; nil outside of callbacks, and if the Realm shows that version.
    fileprivate var pastCallbackSnapshot: SnapshotHandle? {
        guard let snapshot = (hooks.hub as? ObservationHub)?.callbackSnapshot, !shows(snapshot.version) else {
            return nil
        }
        return Self.separateSnapshot(snapshot, coordinator)
    }
}
