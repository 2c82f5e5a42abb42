import ConformanceModels
import Martlet

// Operations on embedded objects, and on collections of values.
extension Operation {
    func editParts(_ pair: NodePair, _ target: NodePair, _ model: inout ModelState) {
        switch kind {
        case .part, .partName, .partNode: editPart(pair, target, &model)
        case .byNameSet, .byNameRemove, .byNamePartName: editPartsByName(pair, &model)
        default: editPartList(pair, &model)
        }
    }

    private func editPart(_ pair: NodePair, _ target: NodePair, _ model: inout ModelState) {
        if kind == .part {
            if c % 4 == 0 {
                model.set(pair.serial, "part", .none)
                pair.node.part = nil
            } else {
                let part = model.add("Part", ["name": .text(letter)], owner: pair.serial)
                model.set(pair.serial, "part", .row(part))
                pair.node.part = Part(name: letter)
            }
            return
        }
        guard let part = model.link(pair.serial, "part") else { return }
        if kind == .partName {
            model.set(part, "name", .text(letter))
            pair.node.part?.name = letter
        } else {
            model.set(part, "node", c % 4 == 0 ? .none : .row(target.serial))
            pair.node.part?.node = c % 4 == 0 ? nil : target.node
        }
    }

    private func editPartList(_ pair: NodePair, _ model: inout ModelState) {
        let list = pair.node.parts
        let count = list.count
        if count == 0 && kind != .partsInsert { return }
        let position = count == 0 ? 0 : b % count
        if kind == .partsName {
            guard case .row(let part) = model.slots(pair.serial, "parts")[position].value else { return }
            model.set(part, "name", .text(letter))
            list[position].name = letter
            return
        }
        let isNew = kind == .partsInsert || kind == .partsReplace
        let part = isNew ? model.add("Part", ["name": .text(letter)], owner: pair.serial) : 0
        model.edit(pair.serial, "parts") { slots, now in
            let slot = ModelState.Slot(value: .row(part), written: now)
            switch kind {
            case .partsInsert: slots.insert(slot, at: b % (count + 1))
            case .partsReplace: slots[position] = slot
            case .partsRemove: slots.remove(at: position)
            default: slots = []
            }
        }
        switch kind {
        case .partsInsert: list.insert(Part(name: letter), at: b % (count + 1))
        case .partsReplace: list[position] = Part(name: letter)
        case .partsRemove: list.remove(at: position)
        default: list.removeAll()
        }
    }

    var partKey: String { ["x", "y", "z"][b % 3] }

    private func editPartsByName(_ pair: NodePair, _ model: inout ModelState) {
        let known = model.slots(pair.serial, "partsByName").firstIndex { $0.key == partKey }
        switch kind {
        case .byNameSet:
            let part = model.add("Part", ["name": .text(letter)], owner: pair.serial)
            model.edit(pair.serial, "partsByName") { slots, now in
                let slot = ModelState.Slot(key: partKey, value: .row(part), written: now)
                if let known { slots[known] = slot } else { slots.append(slot) }
            }
            pair.node.partsByName[partKey] = Part(name: letter)
        case .byNameRemove:
            model.edit(pair.serial, "partsByName") { slots, _ in slots.removeAll { $0.key == partKey } }
            pair.node.partsByName.removeObject(for: partKey)
        default:
            guard let known, case .row(let part) = model.slots(pair.serial, "partsByName")[known].value else { return }
            model.set(part, "name", .text(letter))
            pair.node.partsByName[partKey]??.name = letter
        }
    }

    // MARK: Values

    func editValues(_ model: inout ModelState, _ realm: Realm) {
        guard let row = model.only("ScalarLists"), let list = realm.objects(ScalarLists.self).first?.ints else {
            return
        }
        let count = list.count
        if count == 0 && kind != .valueInsert && kind != .valueInsertRemove { return }
        let (first, second) = (count == 0 ? 0 : a % count, count == 0 ? 0 : b % count)
        model.edit(row, "ints") { slots, now in
            let slot = ModelState.Slot(value: .number(Double(c % 3)), written: now)
            switch kind {
            case .valueInsert: slots.insert(slot, at: a % (count + 1))
            case .valueReplace: slots[first] = slot
            case .valueRemove: slots.remove(at: first)
            case .valueMove: slots.insert(slots.remove(at: first), at: second)
            case .valueInsertRemove: break
            default: slots = []
            }
        }
        switch kind {
        case .valueInsert: list.insert(c % 3, at: a % (count + 1))
        case .valueReplace: list[first] = c % 3
        case .valueRemove: list.remove(at: first)
        case .valueMove: list.move(from: first, to: second)
        case .valueInsertRemove:
            list.insert(c % 3, at: a % (count + 1))
            list.remove(at: a % (count + 1))
        default: list.removeAll()
        }
    }

    func editTexts(_ model: inout ModelState, _ realm: Realm) {
        guard let row = model.only("ScalarSets"), let set = realm.objects(ScalarSets.self).first?.strings else {
            return
        }
        model.edit(row, "strings") { slots, now in
            let known = slots.firstIndex { $0.value == .text(letter) }
            if kind == .textRemove, let known { slots.remove(at: known) }
            if kind == .textInsert, known == nil { slots.append(ModelState.Slot(value: .text(letter), written: now)) }
        }
        if kind == .textRemove { set.remove(letter) } else { set.insert(letter) }
    }

    func editDoubles(_ model: inout ModelState, _ realm: Realm) {
        guard let row = model.only("ScalarMaps"), let map = realm.objects(ScalarMaps.self).first?.doubles else {
            return
        }
        model.edit(row, "doubles") { slots, now in
            let known = slots.firstIndex { $0.key == letter }
            let slot = ModelState.Slot(key: letter, value: .number(Double(b % 3)), written: now)
            switch (kind, known) {
            case (.doubleRemove, let known?): slots.remove(at: known)
            case (.doubleRemove, nil): break
            case (_, let known?): slots[known] = slot
            case (_, nil): slots.append(slot)
            }
        }
        if kind == .doubleRemove { map.removeObject(for: letter) } else { map[letter] = Double(b % 3) }
    }
}

extension ModelState {
    /// The row of a class that has one row.
    func only(_ type: String) -> Int? { rows.first { $0.value.type == type }?.key }
}
