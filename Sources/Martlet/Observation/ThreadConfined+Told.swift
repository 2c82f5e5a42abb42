import MartletEngine

extension ThreadConfined {
    /// A picture of what a callback tells of: `freeze()`, but of that version where a callback before it has written since.
    package func frozenAsTold(fileID: StaticString = #fileID, line: UInt = #line) -> Self {
        guard !isFrozen, let context = realm?.context, let told = context.toldVersion, let locator = _locator(),
            let frozen = locator.find(context.frozen(at: told, fileID, line)) as? Self
        else { return freeze(fileID: fileID, line: line) }
        return frozen
    }
}

extension RealmContext {
    /// The version that the callback under way tells of; nil where the Realm shows it, or outside of callbacks.
    fileprivate var toldVersion: SnapshotHandle? {
        guard let telling = (hooks.hub as? ObservationHub)?.telling, !shows(telling.version) else { return nil }
        return Self.kept(telling, coordinator)
    }
}
