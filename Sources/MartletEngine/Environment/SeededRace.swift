#if MARTLET_SEEDED_BUGS
    import Foundation

    /// Races that can be switched on to check that 'ScheduleTests' finds them. Code with a race fails only if another
    /// thread runs at a certain moment.
    ///
    /// The races are compiled only if `MARTLET_SEEDED_BUGS` is defined. At most one race is on: the race that the
    /// environment variable `MARTLET_SEEDED_RACE` names. 'make schedule-bugs' switches on one race after another.
    package enum SeededRace: String, CaseIterable, Sendable {
        case notifiedBeforeCommit = "writing: listeners are notified of a version before it is committed"
        case pinnedAfterRelease = "writing: the new version is pinned after the lock is released"
        case checkpointUnlocked = "checkpoints: the write lock is not acquired"
        case leaseKept = "asynchronous writes: a lock whose request was cancelled is not released"
        case leaseOfAnother = "asynchronous writes: when a lease ends, it releases a lock that an executor has claimed"
        case countTorn = "pins: the count of a version is read and written in two steps"
        case threadByAddress = "opening: a thread is identified by its address, which a later thread may get"
        case openedKept = "opening: a Realm that is opened later gets the version that the first Realm has read"
        case listensTooLate = "opening: a commit between opening and listening is not noticed"
        case signalSwallowed = "observing: a signal that arrives while a version is being opened is dropped"
        case changeSetOfInvalidatedKept = "observing: the change set of an invalidated observer is kept"

        private static let current: SeededRace? = {
            let name = ProcessInfo.processInfo.environment["MARTLET_SEEDED_RACE"]
            return allCases.first { $0.name == name }
        }()

        package static func isOn(_ race: SeededRace) -> Bool { race == current }

        package var name: String { "\(self)" }
    }
#endif
