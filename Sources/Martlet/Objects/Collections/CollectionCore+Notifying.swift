import MartletEngine

// These methods change a collection, and call key-value observers before and after each change.
extension CollectionCore {
    func performEdit(_ edit: @autoclosure () -> ListEditScript, _ body: () -> Void) {
        if skipsNotifications { return body() }
        performNotifying({ KeyValueEdit(edit()) }, body)
    }

    /// True if an edit calls no observers, because there are no observers, or because the enclosing assignment notifies
    /// them.
    private var skipsNotifications: Bool {
        isInAssignment || context.keyValue.objects.isEmpty && !context.hasTrackedReads
    }

    /// Performs several edits. Observers are notified of one assignment, and not of each edit.
    func asOneAssignment(_ body: () -> Void) {
        if skipsNotifications { return body() }
        performNotifying({ nil }) {
            isInAssignment = true
            body()
            isInAssignment = false
        }
    }

    /// Makes several edits. Observers are notified of each edit. `body` must call `requireUnchanged` before each edit
    /// except the first. `requireUnchanged` traps if an observer has edited the collection, because the positions of
    /// the next edit are then not valid.
    func makingEdits(_ body: (_ requireUnchanged: () -> Void) -> Void) {
        requireWrite()
        let before = observerEditCount
        context.makingChange {
            body { if observerEditCount != before { Misuse.changedDuringChange("'\(name)'") } }
        }
    }

    private func performNotifying(_ edit: () -> KeyValueEdit?, _ body: () -> Void) {
        defer { context.reads.didChange() }
        var observers: [KeyValueObservers] = []
        table.forEachAccessor(owner) { if let known = $0._observers { observers.append(known) } }
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.oneAccessorOnly) {
                observers = [table.identity.object(owner)?._observers].compactMap { $0 }
            }
        #endif
        var notified: [KeyValueNotification.Entry] = []
        context.callingBeforeChange {
            for known in observers {
                known.recordChange(of: property.index, in: context)
                notified += known.notifyWillChange({ $0 == property.index }, { _ in edit() }).map { (known, $0) }
            }
            context.reads.willChange(property.index, of: owner, in: table.id)
        }
        // An observer may have run a query. A query first writes the pending changes to the file, so the collection
        // must be added to the pending changes again.
        #if MARTLET_SEEDED_BUGS
            if !SeededBug.isOn(.queriedCollectionForgotten) { _ = willChange() }
        #else
            _ = willChange()
        #endif
        body()
        let editsBefore = editCount
        // Embedded objects that the edit removes are deleted after the calls below. Until then, the observers must not
        // end the write.
        context.keyValue.changesInProgress += property.element.isEmbedded ? 1 : 0
        for (known, registration) in notified where known.isRegistered(registration.id) { registration.didChange() }
        context.keyValue.changesInProgress -= property.element.isEmbedded ? 1 : 0
        if editCount != editsBefore { observerEditCount &+= 1 }
    }
}
