import ConformanceModels
import Martlet

// Embedded objects, and collections of values.
extension Operation {
    func editParts(_ pair: NodePair, _ target: NodePair, _ world: inout World) {
        switch kind {
        case .part, .partName, .partNode: editPart(pair, target, &world)
        case .byNameSet, .byNameRemove, .byNamePartName: editPartsByName(pair, &world)
        default: editPartList(pair, &world)
        }
    }

    private func editPart(_ pair: NodePair, _ target: NodePair, _ world: inout World) {
        if kind == .part {
            if c % 4 == 0 {
                world.set(pair.serial, "part", .none)
                pair.node.part = nil
            } else {
                let part = world.add("Part", ["name": .text(letter)], owner: pair.serial)
                world.set(pair.serial, "part", .row(part))
                pair.node.part = Part(name: letter)
            }
            return
        }
        guard let part = world.link(pair.serial, "part") else { return }
        if kind == .partName {
            world.set(part, "name", .text(letter))
            pair.node.part?.name = letter
        } else {
            world.set(part, "node", c % 4 == 0 ? .none : .row(target.serial))
            pair.node.part?.node = c % 4 == 0 ? nil : target.node
        }
    }

    private func editPartList(_ pair: NodePair, _ world: inout World) {
        let list = pair.node.parts
        let count = list.count
        if count == 0 && kind != .partsInsert { return }
        let position = count == 0 ? 0 : b % count
        if kind == .partsName {
            guard case .row(let part) = world.slots(pair.serial, "parts")[position].value else { return }
            world.set(part, "name", .text(letter))
            list[position].name = letter
            return
        }
        let isNew = kind == .partsInsert || kind == .partsReplace
        let part = isNew ? world.add("Part", ["name": .text(letter)], owner: pair.serial) : 0
        world.edit(pair.serial, "parts") { slots, now in
            let slot = World.Slot(value: .row(part), written: now)
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

    private func editPartsByName(_ pair: NodePair, _ world: inout World) {
        let known = world.slots(pair.serial, "partsByName").firstIndex { $0.key == partKey }
        switch kind {
        case .byNameSet:
            let part = world.add("Part", ["name": .text(letter)], owner: pair.serial)
            world.edit(pair.serial, "partsByName") { slots, now in
                let slot = World.Slot(key: partKey, value: .row(part), written: now)
                if let known { slots[known] = slot } else { slots.append(slot) }
            }
            pair.node.partsByName[partKey] = Part(name: letter)
        case .byNameRemove:
            world.edit(pair.serial, "partsByName") { slots, _ in slots.removeAll { $0.key == partKey } }
            pair.node.partsByName.removeObject(for: partKey)
        default:
            guard let known, case .row(let part) = world.slots(pair.serial, "partsByName")[known].value else { return }
            world.set(part, "name", .text(letter))
            pair.node.partsByName[partKey]??.name = letter
        }
    }

    // MARK: Values

    func editValues(_ world: inout World, _ realm: Realm) {
        guard let row = world.only("ScalarLists"), let list = realm.objects(ScalarLists.self).first?.ints else {
            return
        }
        let count = list.count
        if count == 0 && kind != .valueInsert && kind != .valueInsertRemove { return }
        let (first, second) = (count == 0 ? 0 : a % count, count == 0 ? 0 : b % count)
        world.edit(row, "ints") { slots, now in
            let slot = World.Slot(value: .number(Double(c % 3)), written: now)
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

    func editTexts(_ world: inout World, _ realm: Realm) {
        guard let row = world.only("ScalarSets"), let set = realm.objects(ScalarSets.self).first?.strings else {
            return
        }
        world.edit(row, "strings") { slots, now in
            let known = slots.firstIndex { $0.value == .text(letter) }
            if kind == .textRemove, let known { slots.remove(at: known) }
            if kind == .textInsert, known == nil { slots.append(World.Slot(value: .text(letter), written: now)) }
        }
        if kind == .textRemove { set.remove(letter) } else { set.insert(letter) }
    }

    func editDoubles(_ world: inout World, _ realm: Realm) {
        guard let row = world.only("ScalarMaps"), let map = realm.objects(ScalarMaps.self).first?.doubles else {
            return
        }
        world.edit(row, "doubles") { slots, now in
            let known = slots.firstIndex { $0.key == letter }
            let slot = World.Slot(key: letter, value: .number(Double(b % 3)), written: now)
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

extension World {
    /// The only row of a class.
    func only(_ type: String) -> Int? { rows.first { $0.value.type == type }?.key }
}
