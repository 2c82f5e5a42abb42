import MartletEngine

extension RealmContext {
    /// The guard word of accessors that can be read without further checks. While reads are tracked, it is zero, which
    /// equals the pointer of no thread.
    var guardWord: UInt { reads.isOn ? 0 : confinement.guardWord }

    /// Records a read. Costs one comparison if reads are not tracked.
    @inline(__always)
    func recordRead(_ dependency: @autoclosure () -> ReadDependency) {
        if reads.isOn { reads.record(dependency()) }
    }

    /// Starts to track reads. After this call every read is checked.
    func trackReads() {
        guard !reads.isOn, !isFrozen, !access.isOfMigration else { return }
        reads.isOn = true
        for table in tables.values { for object in table.accessors { object._guard = 0 } }
    }

    /// Starts to track reads if the Observation framework is tracking reads on this thread. Called only when the file
    /// is read, which takes much longer than this check.
    func trackReadsIfObserved() {
        guard !reads.isOn, !isFrozen, !access.isOfMigration, reads.isTracking else { return }
        trackReads()
    }
}

extension ObjectBase {
    /// Records a read of every property.
    final func recordAllReads() {
        for property in _model.schema.properties {
            if _state == .unmanaged {
                UnmanagedReads.record(property.index, of: self)
            } else if let table = _table {
                table.context.recordRead(.property(table.id, _key, property.index))
            }
        }
    }

    /// Records a read of the existence of the object.
    final func recordExistenceRead() {
        // This method may be called on any thread. Only reads on the Realm's executor are tracked.
        guard let context = _context, context.reads.isOn, context.confinement.isCurrent else { return }
        context.reads.record(.row(_table?.id ?? 0, _key))
    }
}
