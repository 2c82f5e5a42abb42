#if MARTLET_SEEDED_BUGS
    import Foundation

    /// Bugs in the file of a synchronized client that can be switched on to check that 'SyncTests' finds them.
    ///
    /// The bugs are compiled only if `MARTLET_SEEDED_BUGS` is defined. At most one bug is on: the bug that the
    /// environment variable `MARTLET_SEEDED_SYNC_BUG` names. 'make sync-bugs' switches on one bug after another. A
    /// value is masked if an upload that the service has not acknowledged has written it. Downloads must not overwrite
    /// a masked value.
    package enum SeededSyncBug: String, CaseIterable, Sendable {
        case unmaskedApply = "applying: a value that was written after the mask was first read is overwritten"
        case unmasked = "applying: downloaded values are not masked"
        case maskKept = "mask: values of acknowledged uploads are still masked"
        case embeddedUnmasked = "mask: a value inside an embedded object does not mask the embedded object"
        case applyRecorded = "applying: downloaded changes are recorded for upload"
        case leavingCascades = "applying: the deletion rules are applied to an object that leaves the file"
        case defaultsForgotten = "applying: a downloaded value of a new object is replaced by its default"
        case unresolvedLost = "links: the link to an object that leaves the file is not stored as unresolved"
        case unresolvedKept = "links: an unresolved link that the program has overwritten is kept"
        case outboxOutsideTransaction = "outbox: an entry is written with the next transaction"
        case keysAfterDeletion = "outbox: the keys of deleted objects are read after the deletion"
        case ownerForgotten = "outbox: changes inside embedded objects are not recorded"
        case counterAssigned = "outbox: the old value of a counter is read after the change"
        case counterForgotten = "mask: the differences that are not acknowledged are not added to a downloaded counter"
        case clockNotPersisted = "clock: the newest time stamp is not in the file"
        case cursorNotCommitted = "applying: the cursor of a batch is not committed together with the batch"

        private static let current: SeededSyncBug? = {
            let name = ProcessInfo.processInfo.environment["MARTLET_SEEDED_SYNC_BUG"]
            return allCases.first { $0.name == name }
        }()

        package static func isOn(_ bug: SeededSyncBug) -> Bool { bug == current }

        package var name: String { "\(self)" }
    }
#endif
