#if MARTLET_SEEDED_BUGS
    import Foundation

    /// Bugs that can be switched on to check that 'ExactTests' finds them. Each bug is a plausible programming mistake,
    /// and is located in the code where a programmer could make it.
    ///
    /// The bugs are compiled only if `MARTLET_SEEDED_BUGS` is defined. At most one bug is on: the bug that the
    /// environment variable `MARTLET_SEEDED_BUG` names. 'make exact-bugs' switches on one bug after another.
    package enum SeededBug: String, CaseIterable, Sendable {
        // Change sets.
        case deletionForgotten = "merging: a row that is deleted, created again and deleted counts as untouched"
        case secondColumnForgotten = "recording: in a run of modified rows, only one property per row is recorded"
        case insertionsJoinedTooFar = "edits: two insertions are joined although one element lies between them"
        case scriptsOutOfOrder = "merging: the edits of a collection are joined newest version first"
        case relinksForgotten = "merging: the set of rows to which links in collections were added or removed is lost"
        case newestRowImage = "merging: of two old images of a row, the newer one is kept"
        case rowNotKept = "deleting: the old images of rows whose link becomes nil are not stored"
        case gapInLog = "commit log: a gap left by versions of another process is not detected"

        // Results and collections.
        case replacedRowModified = "results: an object that is deleted and created again counts as modified"
        case windowNotRefilled = "results: a limited result is not queried again if none of its own rows was touched"
        case distinctByKey = "results: distinct keeps the row with the lowest key, not the first row in the sort order"
        case distinctOfWholeIndex = "results: the distinct elements of a list are read from the index of the whole type"
        case newSortKey = "results: a row whose sort value changed is searched for at its new position"
        case imageSortKey =
            "results: the stored old values of a row are used as its sort key without conversion to sort values"
        case anyLinksUnfollowed = "results: links in AnyRealmValues are not followed"
        case linkedChangesUnreported = "lists: changes of objects to which an element links are not found"
        case keyOfNewMap = "maps: old positions are looked up in the new keys"
        case setPositionsStale = "sets: cached positions of elements are not updated after a removal"
        case noRoomForChunk = "lists: if there is no number left between two chunks, one overwrites the other"
        case linkLossUnrecorded = "linking objects: the removal of a collection's last link to a row is not recorded"
        case linkCountUnrecorded = "linking objects: a second link from the same object is not recorded"
        case insertedUnfiltered = "results of lists: elements that an edit inserts are not matched against the query"
        case linksOfDeletedRow = "linking objects: links in collections of a deleted row are not recorded"
        case deletedOriginForgotten = "linking objects: the links of a deleted origin are ignored"
        case cancellingEditsForgotten = "several versions: edits of a list that cancel each other out are forgotten"
        case queriedCollectionForgotten = "collections: a change is lost if an observer runs a query before it"
        case cancelledElementsKept = "cancelled writes: collections keep the elements of the write"

        // Key paths and objects.
        case depthTooGreat = "key paths: without key paths, changes are reported one level too deep"
        case replacedObjectSurvives = "objects: an object that is deleted and created again is not reported as deleted"
        case silencedValues = "objects: after a silent write, the old values are those before that write"
        case chainNotFollowed = "key-value paths: after a change of the last link the old object is observed"
        case lastOfRangeLeftOut = "key-value lists: the range of a move is one element too short"
        case oneAccessorOnly = "key-value collections: only one of several accessors of a row notifies its observers"
        case denialNotNotified = "denied deletions: key-value observers are not notified of the rollback"
        case denialOfDeleted = "denied deletions: an object that is deleted later in the write still denies a deletion"
        case cancelledCountIgnored = "key-value lists: a cancelled edit is computed from the length after the edit"

        // Groups of asynchronous writes.
        case anyLinksOfCancelled =
            "groups: after a write was cancelled, the index of links that it created is still assumed to exist"

        // Sections.
        case sectionOfDeletions = "sections: deleted rows are reported at the new position of the section"
        case sectionKeysFromNewest = "sections: keys of a change that is delivered late are read from the newest state"
        case sectionUnnoticed = "sections: a change outside the key paths does not move an element"

        // Delivery.
        case deletedElementsFromNewVersion = "deleted elements are read from the new version"
        case olderSilenced = "a silent write also suppresses an older change"
        case notifiedTwice = "after a nested delivery, the outer delivery delivers change sets that are out of date"
        case deliveryContinuesAfterChange =
            "when a write begins and an observer changes data in that write, the remaining observers are still called"
        case invalidatedObserverCalled =
            "an observer that another observer invalidates in the same delivery is still called"
        case readyForgotten = "a refresh does not notify the observers whose change was ready before the refresh"
        case busyLoopNotified = "an asynchronous loop is notified while its body runs"

        private static let current: SeededBug? = {
            let name = ProcessInfo.processInfo.environment["MARTLET_SEEDED_BUG"]
            return allCases.first { $0.name == name }
        }()

        package static func isOn(_ bug: SeededBug) -> Bool { bug == current }

        package var name: String { "\(self)" }

        /// True if the bug can be found only with classes that are generated from a seed. The fixed classes have neither
        /// deletion rules nor indexed properties.
        package var needsRandomSchemas: Bool {
            [.denialNotNotified, .denialOfDeleted, .distinctOfWholeIndex].contains(self)
        }
    }
#endif
