#if MARTLET_SEEDED_BUGS
    import Foundation

    /// Mistakes that can be switched on, to see whether 'ExactTests' finds them: each is one that a tired programmer makes,
    /// and stands where it would be made.
    ///
    /// They exist in builds for 'make exact-bugs' only. One is on at a time, named by `MARTLET_SEEDED_BUG`.
    package enum SeededBug: String, CaseIterable, Sendable {
        // Change sets.
        case deletionForgotten = "merging: deleted, created again and deleted is nothing"
        case secondColumnForgotten = "recording: of a row within a run of modified ones only the first property counts"
        case insertionsJoinedTooFar = "edits: an insertion one place behind another is joined with it"
        case scriptsOutOfOrder = "merging: the edits of a collection are joined newest version first"
        case relinksForgotten = "merging: which rows collections began or ceased to link to is lost"
        case newestRowImage = "merging: of two images of a row the newer one wins"
        case rowNotKept = "deleting: rows whose link becomes nil are not kept as they were"
        case gapInLog = "commit log: versions of another process in between are not seen"

        // Results and collections.
        case replacedRowModified = "results: an object deleted and created anew counts as modified"
        case windowNotRefilled = "results: a window whose own rows were not touched is not asked again"
        case distinctByKey = "results: of equal rows the one with the lowest key stays, not the first in order"
        case newSortKey = "results: a row whose sort value changed is looked for at its new place"
        case imageSortKey = "results: an old row is looked for by the values of its image, in whatever form they are"
        case anyLinksUnfollowed = "results: links in values of any type are not followed"
        case behindLinkUnreported = "lists: changes behind the links of an element are not looked for"
        case keyOfNewMap = "maps: old positions are looked up among the new keys"
        case setPositionsStale = "sets: where elements stand is remembered beyond a removal"
        case noRoomForChunk = "lists: where no room is left between two chunks, one takes the other's place"
        case linkLossUnrecorded = "linking objects: a collection's last link to a row goes unrecorded"
        case linkCountUnrecorded = "linking objects: another link of an object that links already goes unrecorded"
        case insertedUnfiltered = "results of lists: what an edit puts into the list is not queried"
        case linksOfDeletedRow = "linking objects: what the collections of a deleted row linked to goes unrecorded"
        case deletedOriginForgotten = "linking objects: an origin that was deleted linked to nothing"
        case takenBackElements = "cancelled writes: collections keep what they were given"

        // Key paths and objects.
        case depthTooGreat = "key paths: without any, changes count one level too deep"
        case replacedObjectSurvives = "objects: one deleted and created anew was not deleted"
        case silencedValues = "objects: values written silently do not become the old ones"
        case chainNotFollowed = "key-value paths: the last link is not followed to another object"
        case lastOfRangeLeftOut = "key-value lists: the range of a move ends one too early"
        case twinUnnoticed = "key-value collections: of several accessors of a row only one notifies its observers"
        case deniedUnannounced = "denied deletions: key-value observers are not notified of the rollback"
        case denialOfDeleted = "denied deletions: a holder that is deleted later in the write still denies"
        case takenBackCount = "key-value lists: a cancelled edit is counted from the length after it"

        // Groups of asynchronous writes.
        case anyLinksOfCancelled = "groups: the index of links that a cancelled write made counts as made"

        // Sections.
        case sectionOfDeletions = "sections: deleted rows are told in the section's new place"
        case sectionUnnoticed = "sections: an element changes its section by what key paths do not name, and stays"

        // Delivery.
        case pastOfPresent = "deleted elements are read from the new version"
        case olderSilenced = "a silenced write silences an older change, too"
        case toldTwice = "after a nested round the outer one tells what it had ready"
        case changedRoundGoesOn =
            "a callback changes something in the write that begins, and the next are called all the same"
        case endedIsCalled = "an observer ended by another one in the same round is called"
        case readyForgotten = "a refresh tells those for whom it computes, and not those whose change is ready"
        case busyLoopTold = "an asynchronous loop is told while its body is busy"

        private static let current: SeededBug? = {
            let name = ProcessInfo.processInfo.environment["MARTLET_SEEDED_BUG"]
            return allCases.first { $0.name == name }
        }()

        package static func isOn(_ bug: SeededBug) -> Bool { bug == current }

        package var name: String { "\(self)" }

        /// True when it is looked for with classes that seeds think up: others have no rules of deletion.
        package var isOfSchemas: Bool { [.deniedUnannounced, .denialOfDeleted].contains(self) }
    }
#endif
