// Descriptions of operations, for the report of a failure.
extension Operation {
    func text(_ model: ModelState) -> String {
        let nodes = model.nodes
        switch kind {
        case .add:
            return model.node(a % Self.maximumNodeCount) == nil
                ? "add node \(a % Self.maximumNodeCount) '\(letter)' \(amount)" : "nothing"
        case .nameAll: return "name of all nodes = '\(letter)'"
        case .amountAll: return "amount of all nodes = \(amount)"
        case .deleteAll: return "delete all nodes"
        case .valueInsertRemove: return "numbers: insert one and remove it"
        case .valueInsert, .valueRemove, .valueReplace, .valueMove, .valueClear:
            let count = model.only("ScalarLists").map { model.slots($0, "ints").count } ?? 0
            return "numbers: " + edit(count: count, insertAt: a, first: a, second: b, "\(c % 3)")
        case .textInsert: return "texts: insert '\(letter)'"
        case .textRemove: return "texts: remove '\(letter)'"
        case .doubleSet: return "numbers by name: '\(letter)' is \(b % 3)"
        case .doubleRemove: return "numbers by name: remove '\(letter)'"
        case .manyValues: return "numbers: insert \(20 + b % 12) at \(["the start", "the middle", "the end"][a % 3])"
        case .nodeListInsertMany: return "list of nodes: insert \(4 + c % 8) nodes from \(b) at \(a)"
        case .chain:
            return
                "chain of all nodes from position \(a), by \(b % 3 == 0 ? "'next'" : "4 properties, from \(b % 4)")"
        case .anyAdd, .anyDelete, .anyAssign, .anyPut, .anyNumbers, .anyInsert, .anyReplace, .anyRemove, .anyMove,
            .anyKeySet, .anyKeyRemove, .anySetInsert, .anySetRemove, .enumRow:
            return anyText(model)
        case .nodeListInsert, .nodeListRemove:
            if nodes.isEmpty { return "nothing" }
            let count = model.only("ScalarLists").map { model.slots($0, "nodes").count } ?? 0
            return "list of nodes: "
                + edit(count: count, insertAt: b, first: b, second: b, "node \(nodes[a % nodes.count].id)")
        default:
            if nodes.isEmpty { return "nothing" }
            let (id, serial) = nodes[a % nodes.count]
            return "node \(id): " + text(model, serial, nodes[b % nodes.count].id)
        }
    }

    private func text(_ model: ModelState, _ serial: Int, _ other: Int) -> String {
        func count(_ name: String) -> Int { model.slots(serial, name).count }
        switch kind {
        case .delete: return "delete"
        case .furtherAccessor:
            return "a further accessor with '\(letter)' \(amount)\(c.isMultiple(of: 3) ? " and nothing else" : "")"
        case .name: return "name = '\(letter)'"
        case .amount: return "amount = \(amount)"
        case .next: return c % 4 == 0 ? "next = nil" : "next = node \(other)"
        case .assignAgain: return "name = name"
        case .childAssign: return "children = [node \(other), this node]"
        case .childInsert, .childRemove, .childReplace, .childMove, .childSwap, .childClear:
            return "children: " + edit(count: count("children"), insertAt: c, first: b, second: c, "node \(other)")
        case .peerInsert: return "peers: insert node \(other)"
        case .peerRemove: return "peers: remove node \(other)"
        case .peerClear: return "peers: clear"
        case .namedSet: return "named: '\(key)' is \(a % 5 == 0 ? "nil" : "node \(other)")"
        case .namedRemove: return "named: remove '\(key)'"
        case .namedClear: return "named: clear"
        case .part: return c % 4 == 0 ? "part = nil" : "part = new part '\(letter)'"
        case .partName: return "part.name = '\(letter)'"
        case .partNode: return c % 4 == 0 ? "part.node = nil" : "part.node = node \(other)"
        case .byNameSet: return "partsByName: '\(partKey)' is new part '\(letter)'"
        case .byNameRemove: return "partsByName: remove '\(partKey)'"
        case .byNamePartName: return "partsByName: name of '\(partKey)' = '\(letter)'"
        case .partsName:
            return count("parts") == 0 ? "nothing" : "name of parts[\(b % count("parts"))] = '\(letter)'"
        default:
            return "parts: " + edit(count: count("parts"), insertAt: b, first: b, second: c, "new part '\(letter)'")
        }
    }

    /// The description of an edit of a list. The kind of the edit is derived from the name of `kind`.
    private func edit(count: Int, insertAt: Int, first: Int, second: Int, _ element: String) -> String {
        let name = "\(kind)"
        if name.hasSuffix("Insert") { return "insert \(element) at \(insertAt % (count + 1))" }
        if name.hasSuffix("Clear") { return "clear" }
        if count == 0 { return "nothing" }
        let (first, second) = (first % count, second % count)
        if name.hasSuffix("Remove") { return "remove at \(first)" }
        if name.hasSuffix("Move") { return "move from \(first) to \(second)" }
        if name.hasSuffix("Swap") { return "swap \(first) and \(second)" }
        return "replace at \(kind == .childReplace ? second : first) with \(element)"
    }
}
