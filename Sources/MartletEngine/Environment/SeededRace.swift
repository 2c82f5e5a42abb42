#if MARTLET_SEEDED_BUGS
    import Foundation

    /// Mistakes between threads that can be switched on, to see whether 'ScheduleTests' finds them: each is right as long as
    /// nobody else gets in between.
    ///
    /// They exist in builds for 'make schedule-bugs' only. One is on at a time, named by `MARTLET_SEEDED_RACE`.
    package enum SeededRace: String, CaseIterable, Sendable {
        case toldBeforeCommit = "writing: listeners are told of a version before it is committed"
        case pinnedAfterRelease = "writing: the version just made is pinned after the lock was let go of"
        case checkpointUnlocked = "checkpoints: the queue of writers is passed by"
        case leaseKept = "asynchronous writes: a lock that nobody wants any more is kept"
        case leaseOfAnother = "asynchronous writes: the end of a lease lets go of a lock that was claimed"
        case countTorn = "pins: the count of a version is read, and written a moment later"
        case threadByAddress = "opening: a thread is known by its address, which another gets when it has ended"
        case openedKept = "opening: the version that a file was opened with is shown to whoever comes later"
        case listensTooLate = "opening: what is committed between the first look and listening is not noticed"
        case signalSwallowed = "observing: a signal that comes while a version is being opened is taken for seen"
        case keptForEnded = "observing: what was worked out for an observer that has ended is kept"

        private static let current: SeededRace? = {
            let name = ProcessInfo.processInfo.environment["MARTLET_SEEDED_RACE"]
            return allCases.first { $0.name == name }
        }()

        package static func isOn(_ race: SeededRace) -> Bool { race == current }

        package var name: String { "\(self)" }
    }
#endif
