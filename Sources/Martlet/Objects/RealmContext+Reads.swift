import MartletEngine

extension RealmContext {
    /// The guard word of accessors that can be read without further checks. Zero, which equals no thread's word, while reads are
    /// tracked.
    var guardWord: UInt { reads.isOn ? 0 : confinement.guardWord }

    /// Records a read. Costs one comparison if reads are not tracked.
    @inline(__always)
    func noteRead(_ place: @autoclosure () -> ReadPlace) {
        if reads.isOn { reads.note(place()) }
    }

    /// Starts to track reads: from now on every read is checked.
    func trackReads() {
        guard !reads.isOn, !isFrozen, !access.isOfMigration else { return }
        reads.isOn = true
        for table in tables.values { for object in table.accessors { object._guard = 0 } }
    }

    /// Starts to track reads if Observation is tracking. Called when the file is read, which takes much longer than this check.
    func trackReadsIfObserved() {
        guard !reads.isOn, !isFrozen, !access.isOfMigration, reads.isTracking else { return }
        trackReads()
    }
}

extension ObjectBase {
    /// Records a read of every property.
    final func noteAllReads() {
        for property in _model.schema.properties {
            if _state == .unmanaged {
                UnmanagedReads.note(property.index, of: self)
            } else if let table = _table {
                table.context.noteRead(.property(table.id, _key, property.index))
            }
        }
    }

    /// Records a read of the existence of the object.
    final func noteExistence() {
        // Called on any thread. Only reads on the Realm's executor are tracked.
        guard let context = _context, context.reads.isOn, context.confinement.isCurrent else { return }
        context.reads.note(.row(_table?.id ?? 0, _key))
    }
}
