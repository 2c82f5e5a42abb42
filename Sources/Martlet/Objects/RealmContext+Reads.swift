import MartletEngine

extension RealmContext {
    /// What accessors compare the thread's word with: nothing is equal to it while every read must be looked at.
    var guardWord: UInt { reads.isOn ? 0 : confinement.guardWord }

    /// Takes note of a read. Costs a comparison where reads are not tracked.
    @inline(__always)
    func noteRead(_ place: @autoclosure () -> ReadPlace) {
        if reads.isOn { reads.note(place()) }
    }

    /// From now on every read is looked at.
    func trackReads() {
        guard !reads.isOn, !isFrozen, !access.isOfMigration else { return }
        reads.isOn = true
        for table in tables.values { for object in table.accessors { object._guard = 0 } }
    }

    /// Begins to track when somebody does. Asked where the file is read, which takes far longer than to ask.
    func noticeTracking() {
        guard !reads.isOn, !isFrozen, !access.isOfMigration, reads.isTracking else { return }
        trackReads()
    }
}

extension ObjectBase {
    /// Takes note that every property is read.
    final func noteAllReads() {
        for property in _model.schema.properties {
            if _state == .unmanaged {
                UnmanagedReads.note(property.index, of: self)
            } else if let table = _table {
                table.context.noteRead(.property(table.id, _key, property.index))
            }
        }
    }

    /// Takes note that somebody wants to know whether the object is there.
    final func noteExistence() {
        // Asked on any thread; only the Realm's own can track it.
        guard let context = _context, context.reads.isOn, context.confinement.isCurrent else { return }
        context.reads.note(.row(_table?.id ?? 0, _key))
    }
}
