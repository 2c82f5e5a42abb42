import Foundation

/// The traps of the library and their messages. Programming errors trap. A failed read traps if the reading API cannot
/// throw. All other failures are thrown.
///
/// Each trap is a separate function. The message ends with the name of the function, so that users can search for it.
/// `Documentation/Misuse.md` lists the messages, and a test triggers each trap.
enum Misuse {
    /// Stops the program. The message says what was wrong and how to fix it, and ends with the name of the calling
    /// function.
    static func trap(
        _ message: String, named name: String = #function, file: StaticString = #file, line: UInt = #line
    ) -> Never {
        // A message about a query text has several lines. Its last line marks a position in the text, so the function
        // name goes on a separate line.
        let separator = message.contains("\n") ? "\n" : " "
        fatalError("Martlet: \(message)\(separator)[\(name.prefix { $0 != "(" })]", file: file, line: line)
    }

    // MARK: Confinement

    static func wrongExecutor(_ what: String, isolation: String, here: String) -> Never {
        trap(
            "\(what) was used on \(here), but it belongs to \(isolation). Live objects can only be used where their Realm was opened. "
                + "Elsewhere, open a Realm and look the object up by its primary key")
    }

    static func noRunLoop(_ what: String) -> Never {
        trap(
            "\(what) was observed on a thread that runs no run loop, so it cannot receive notifications. "
                + "Observe on the main thread, on a thread inside 'RunLoop.run', or pass a serial queue as 'on:'")
    }

    static func concurrentQueue(_ label: String) -> Never {
        trap(
            "a Realm was opened on the queue '\(label)', which is concurrent or global: "
                + "it runs several blocks at the same time. "
                + "Use a serial queue, which 'DispatchQueue(label:)' creates")
    }

    static func forkedChild(_ path: String) -> Never {
        trap(
            "a Realm of '\(path)' was used in a forked child process, which does not inherit the locks of the file. "
                + "Open this file in the child only after the child has executed a new program, "
                + "or fork before the file is opened")
    }

    // MARK: Write transactions

    static func notInWrite(_ what: String, _ property: String? = nil) -> Never {
        let place = property.map { ", at its property '\($0)'" } ?? ""
        trap("\(what) was changed outside a write transaction\(place). Put the change into 'realm.write { … }'")
    }

    static func alreadyInWrite() -> Never {
        trap(
            "a write transaction was begun inside another one. Commit or cancel the first, or do the work inside it. "
                + "Beginning a write calls observers: check 'isInWriteTransaction' in callbacks, or use 'writeAsync' there"
        )
    }

    static func notSynchronized(_ path: String) -> Never {
        trap(
            "subscriptions or the sync session of '\(path)' were used, but its Realm was opened without synchronization. "
                + "Set 'syncConfiguration' of its configuration")
    }

    static func subscriptionsOutsideUpdate() -> Never {
        trap(
            "a set of subscriptions was changed outside of its 'update'. "
                + "Put the change into 'subscriptions.update { … }'")
    }

    static func noWriteToEnd(_ verb: String) -> Never {
        trap(
            "a write transaction was \(verb) although none is open. Call 'beginWrite()' first, or use 'realm.write { … }'"
        )
    }

    static func asyncWriteWithoutRunLoop() -> Never {
        trap(
            "an asynchronous write was requested on a thread that runs no run loop, so it would never run. "
                + "Request it on the main thread or an actor, or open the Realm with a serial queue")
    }

    static func readOnly(_ what: String) -> Never {
        trap("\(what) belongs to a file opened with 'readOnly' and cannot be changed. Open the file for writing")
    }

    // MARK: Frozen values and references

    static func frozen(_ what: String) -> Never {
        trap("\(what) is frozen and cannot be changed. Change what 'thaw()' returns, inside a write transaction")
    }

    static func frozenRealm(_ verb: String) -> Never {
        trap("a frozen Realm was \(verb), but it never changes. Use the live Realm that 'thaw()' returns")
    }

    static func observeFrozen(_ what: String) -> Never {
        trap("\(what) is frozen and was observed, but it never changes. Observe what 'thaw()' returns")
    }

    static func unmanagedTransfer(_ type: String, _ verb: String) -> Never {
        trap("an unmanaged '\(type)' was \(verb). Add it to a Realm first, or pass plain values")
    }

    static func frozenInMigration() -> Never {
        trap("an object of a migration was frozen. Keep plain values, and freeze objects of the Realm once it is open")
    }

    static func frozenTooEarly(_ what: String) -> Never {
        trap(
            "\(what) was created in the open write transaction and frozen there, but frozen objects show the state before "
                + "that transaction. Commit the transaction first. "
                + "Exception: inside an asynchronous write, before its first change, you can freeze objects that "
                + "earlier writes created"
        )
    }

    static func cannotThaw(_ what: String, _ reason: String) -> Never {
        trap("\(what) cannot be thawed, because its file cannot be opened here: \(reason)")
    }

    static func resolvedTwice(_ type: String) -> Never {
        trap("a 'ThreadSafeReference<\(type)>' was resolved twice. Create one for each use, or use '@ThreadSafe'")
    }

    static func resolvedElsewhere(_ type: String, _ path: String) -> Never {
        trap(
            "a 'ThreadSafeReference<\(type)>' of the file '\(path)' was resolved by a Realm of another file. "
                + "Resolve it by a Realm with the same configuration")
    }

    static func copyInsideWrite() -> Never {
        trap("a copy of a Realm was written inside a write transaction. Commit or cancel the transaction first")
    }

    // MARK: Objects

    static func invalidated(_ type: String, _ key: String) -> Never {
        trap(
            "the '\(type)' \(key) was deleted, or its Realm was invalidated, so it can no longer be used. "
                + "Check 'isInvalidated' before using an object that may have been deleted")
    }

    static func foreignObject(_ type: String, of realm: String?, in otherRealm: String) -> Never {
        let place = realm.map { ": it belongs to '\($0)' and was used in '\(otherRealm)'" } ?? ""
        trap(
            "a '\(type)' of another Realm was added or linked\(place). "
                + "Use objects of one Realm together, or copy the object with 'create'")
    }

    static func frozenLinked(_ type: String) -> Never {
        trap(
            "a frozen '\(type)' was added or linked. Frozen objects belong to one version of a file. "
                + "Link to the object that 'thaw()' returns, or copy the frozen object with 'create'")
    }

    static func deletedUnmanaged(_ type: String) -> Never {
        trap("an unmanaged '\(type)' cannot be deleted from a Realm: it does not belong to one. Release it instead")
    }

    static func invalidatedResults(_ type: String) -> Never {
        trap(
            "a collection of '\(type)' was used after its Realm had been invalidated. Query the Realm again"
        )
    }

    static func duplicatePrimaryKey(_ type: String, _ key: String) -> Never {
        trap(
            "a '\(type)' with the primary key \(key) exists already. "
                + "Use 'update: .modified' or '.all' to change it, or choose another key")
    }

    static func primaryKeyChange(_ type: String, _ property: String) -> Never {
        trap(
            "the primary key '\(type).\(property)' was changed after the object had been added. Create a new object instead"
        )
    }

    static func unknownType(_ type: String) -> Never {
        trap(
            "'\(type)' is not in the schema of this Realm. "
                + "Add it to 'Realm.Configuration.objectTypes', or leave 'objectTypes' out to use all types of the program"
        )
    }

    static func unknownProperty(_ name: String, of type: String, known: [String]) -> Never {
        trap("'\(type)' has no property '\(name)'. It has \(known.map { "'\($0)'" }.joined(separator: ", "))")
    }

    /// - Parameter path: the path of the value if it is nested in another value.
    static func wrongValue(_ value: Any?, property: String, expected: String, at path: String? = nil) -> Never {
        let place = path.map { $0 == property ? "" : " at '\($0)'" } ?? ""
        guard let value else {
            trap(
                "'\(property)' takes \(expected), but was given 'nil'\(place). Assign a value, or declare the property optional"
            )
        }
        let text = "\(ValueDescription(value))"
        trap(
            "'\(property)' takes \(expected), but was given '\(text.count > 200 ? text.prefix(200) + "…" : text)' "
                + "of type '\(type(of: value))'\(place). Assign a value of that type, or change the schema")
    }

    static func linkingObjectsAssigned(_ property: String, origin: String) -> Never {
        trap(
            "'\(property)' cannot be assigned: it is computed from links. Set '\(origin)' of the objects that link to this one"
        )
    }

    static func wrongKind(_ property: String, is type: String, _ wanted: String) -> Never {
        trap(
            "'\(property)' is '\(type)' and not a \(wanted). Use 'dynamicList', 'dynamicSet', 'dynamicMap' or "
                + "'value(forKey:)', according to its type")
    }

    static func embeddedAtTopLevel(_ type: String) -> Never {
        trap("'\(type)' is an embedded type and cannot be added by itself. Assign it to a property of its owner")
    }

    static func embeddedOwned(_ type: String) -> Never {
        trap(
            "an embedded '\(type)' that already has an owner was assigned to another owner. "
                + "Create a copy for each owner")
    }

    static func embeddedInAnyValue(_ type: String) -> Never {
        trap(
            "an embedded '\(type)' was put into an 'AnyRealmValue', which cannot own it. "
                + "Link to a top-level object, or declare a property of the type '\(type)'")
    }

    static func wrongAnyKind(_ kind: String, _ wanted: String) -> Never {
        trap("an 'AnyRealmValue' that is '\(kind)' was used as a \(wanted). Ask for its 'kind' first")
    }

    static func noPrimaryKey(_ type: String) -> Never {
        trap("'\(type)' has no primary key. Declare 'primaryKey' in the schema, or find the object with 'where'")
    }

    static func enumWithoutCase(_ type: String, _ raw: String) -> Never {
        trap(
            "the stored value \(raw) is not a case of '\(type)'. "
                + "Declare the property optional, or an 'unknown' case in the schema")
    }

    // MARK: Collections and queries

    static func removedFromEmptyList(_ list: String) -> Never {
        trap("an element cannot be removed from \(list), because it is empty. Check 'isEmpty' first")
    }

    static func indexOutOfRange(_ index: Int, count: Int, _ what: String) -> Never {
        trap(
            "the index \(index) is outside of \(what), whose number of elements is \(count). "
                + "Compare the index with 'count' first")
    }

    static func collectionInSet(_ name: String?) -> Never {
        trap(
            "a list or map was put into \(name.map { "the set '\($0)'" } ?? "a set"), "
                + "which takes single values and objects only. Use a list or a map of 'AnyRealmValue' instead")
    }

    static func nestedTooDeep(limit: Int) -> Never {
        trap(
            "an 'AnyRealmValue' with more than \(limit) nested lists and maps was used. "
                + "Store it in parts, as objects that link to each other")
    }

    static func readFailed(_ reason: String, path: String) -> Never {
        trap(
            "'\(path)' could not be read: \(reason). "
                + "Properties and collections cannot throw errors, so the program stops")
    }

    // MARK: Migrations

    static func changeBeforeMigration(_ what: String) -> Never {
        trap(
            "\(what) belongs to the old objects of a migration, which are read-only. "
                + "Change the new object of the pair instead"
        )
    }

    static func migrationIsOver() -> Never {
        trap("a 'Migration' was used after its 'migrationBlock' had returned. Use it only inside the block")
    }

    static func invalidatedInMigration(_ what: String) -> Never {
        trap(
            "\(what) was used after the migration had deleted it, or after the 'migrationBlock' had returned. "
                + "Keep plain values, and ask the Realm for the object once it is open")
    }

    static func unknownMigrationType(_ type: String, known: [String]) -> Never {
        trap(
            "neither the file nor the schema has a type '\(type)'. "
                + "The types are \(known.map { "'\($0)'" }.joined(separator: ", "))")
    }

    static func renameWithoutSource(_ property: String, known: [String]) -> Never {
        trap(
            "a migration renames '\(property)', which the file does not have. "
                + "It has \(known.map { "'\($0)'" }.joined(separator: ", "))")
    }

    static func renameWithoutTarget(_ property: String, known: [String]) -> Never {
        trap(
            "a migration renames to '\(property)', which the schema does not have. "
                + "It has \(known.map { "'\($0)'" }.joined(separator: ", "))")
    }

    static func separatedTopLevel(_ type: String) -> Never {
        trap(
            "a migration calls 'separateOwners(ofType:)' with '\(type)', which is not an embedded type of the schema. "
                + "Remove the call: any number of objects may link to an object of a top-level type")
    }

    static func renameOfPresent(_ property: String) -> Never {
        trap("a migration renames '\(property)', which the schema still has. Copy its values with 'enumerateObjects'")
    }

    static func createdStoredObject() -> Never {
        trap("a 'StoredObject' was created directly. Use 'dynamicCreate' with the name of its type")
    }

    static func madeMigrationObject() -> Never {
        trap("a 'MigrationObject' was created directly. Use 'migration.create'")
    }

    static func observeInMigration(_ what: String) -> Never {
        trap("\(what) was observed inside a migration. Observe it in the Realm after the migration")
    }

    // MARK: Observation

    static func observeUnmanaged(_ type: String) -> Never {
        trap("an unmanaged '\(type)' was observed. Add it to a Realm first")
    }

    static func observeInvalidated(_ type: String) -> Never {
        trap(
            "a '\(type)' was observed after its object had been deleted, or its Realm had been invalidated. "
                + "Check 'isInvalidated' first")
    }

    static func unknownLabel(_ path: String, projection: String, labels: [String]) -> Never {
        trap(
            "the key path '\(path)' cannot be observed: '\(projection)' has no label of that name. "
                + "Name one of its labels (\(labels.map { "'\($0)'" }.joined(separator: ", "))), "
                + "or the key path that a label represents")
    }

    static func observeReadOnly(_ what: String) -> Never {
        trap(
            "\(what) in a Realm opened with 'readOnly' was observed, but its data never changes. "
                + "Open the file for writing")
    }

    static func observeInsideWrite(_ what: String) -> Never {
        trap(
            "\(what) was observed inside a write transaction that has changed something. "
                + "Register observers before the write")
    }

    static func unknownKeyPath(_ path: String, component: String, type: String) -> Never {
        trap(
            "the key path '\(path)' cannot be observed: '\(type)' has no property '\(component)'. "
                + "Name stored properties of the schema, such as 'name' or 'owner.name'")
    }

    static func observeLinkingObjects(_ property: String) -> Never {
        trap(
            "'\(property)' is a linking-objects property, which key-value observation does not support. Use 'observe' on the collection"
        )
    }

    static func observerNotRegistered(_ property: String) -> Never {
        trap(
            "an observer of '\(property)' was removed, but it is not registered. "
                + "Remove each observer once, with its context")
    }

    static func observeThroughCollection(_ path: String, _ collection: String) -> Never {
        trap(
            "the key path '\(path)' cannot be observed: it leads through the collection '\(collection)'. "
                + "Observe the collection itself, or its '@count'")
    }

    static func noArray(_ property: String) -> Never {
        trap(
            "'\(property)' is not a list, and 'mutableArrayValue(forKey:)' supports only lists. "
                + "Use 'value(forKey:)' for sets, maps and other values")
    }

    static func linkedDuringDeletion(_ type: String, _ key: String) -> Never {
        trap(
            "the '\(type)' \(key) was linked by an observer that was called during its deletion. "
                + "In the observer, do not link to the object that is being deleted")
    }

    static func endedDuringChange(_ verb: String) -> Never {
        trap(
            "an observer \(verb) the write transaction while a change was in progress: just before the change, or "
                + "between its steps (for example, during a deletion). The write must stay open until the change is "
                + "complete. End the write transaction after the change")
    }

    static func changedByPriorObserver(_ what: String) -> Never {
        trap(
            "an observer that was called before a change (for example, one registered with the option 'prior') itself "
                + "changed \(what). Such an observer may only read and run queries. "
                + "Make the change in the call that is made after the observed change")
    }

    static func changedDuringChange(_ what: String) -> Never {
        trap(
            "\(what) was changed by an observer or a closure during another change of the same collection, so the "
                + "positions of that change are no longer valid. Change the collection after that change")
    }

    static func writeByPriorObserver() -> Never {
        trap(
            "a write transaction was begun by an observer with 'prior' while its Realm was moving to a newer version. "
                + "Begin the write in the call that is made after the change")
    }

    static func silencedForeignToken() -> Never {
        trap("'withoutNotifying' was called with a token of another Realm. Pass tokens of observers of this Realm")
    }

    static func addObserved(_ type: String) -> Never {
        trap(
            "a '\(type)' with observers was added to a Realm. Remove the observers first and add them again afterwards")
    }
}
