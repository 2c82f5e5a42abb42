import MartletEngine
import ModelTesting

@testable import Martlet

extension SchemaModelRunner {
    /// One change, made in the model and in a Realm. The random numbers are used modulo the number of rows, properties
    /// or elements.
    struct Edit {
        private let kind: Int
        private let a: Int
        private let b: Int
        private let c: Int

        init(_ random: inout SeededRandom) {
            kind = Int.random(in: 0..<12, using: &random)
            a = Int.random(in: 0..<60, using: &random)
            b = Int.random(in: 0..<60, using: &random)
            c = Int.random(in: 0..<60, using: &random)
        }

        func perform(_ model: inout ModelState, _ realm: Realm, _ schema: RandomSchema) {
            let rows = schema.names.flatMap { model.inKeyOrder($0) }
            guard kind > 2, !rows.isEmpty else { return create(&model, realm, schema) }
            let serial = rows[a % rows.count]
            guard let row = model.rows[serial], let object = model.object(serial, realm) else { return }
            if kind == 3 {
                model.delete(serial)
                realm.context.delete(object)
                return
            }
            let all = schema.classes.of(row.type).filter { property in
                if case .inverse = property.kind { return false }
                return property.name != "key"
            }
            // Half of the edits use the last six properties, because these have the highest indexes in classes with
            // many properties.
            let some = kind < 8 ? Array(all.suffix(6)) : all
            guard !some.isEmpty else { return }
            edit(some[b % some.count], serial, object, &model, realm)
        }

        private func create(_ model: inout ModelState, _ realm: Realm, _ schema: RandomSchema) {
            let type = schema.names[a % schema.names.count]
            let known = model.inKeyOrder(type)
            if known.count >= 7 { return }
            var (values, given): ([String: ModelState.Value], [String: Any]) = ([:], [:])
            switch schema.keys[type] {
            case .int: (values["key"], given["key"]) = (.number(Double(b % 9)), b % 9)
            case .string: (values["key"], given["key"]) = (.text("k\(b % 9)"), "k\(b % 9)")
            default: break
            }
            if let key = values["key"], known.contains(where: { model.singleValue($0, "key") == key }) { return }
            values["number"] = .number(Double(c % 5))
            given["number"] = c % 5
            let serial = model.add(type, values)
            model.keys[serial] = realm.dynamicCreate(type, value: given).object._key
        }

        private func edit(
            _ property: Property, _ serial: Int, _ object: ObjectBase, _ model: inout ModelState, _ realm: Realm
        ) {
            let name = property.name
            let targets = property.target.map { model.inKeyOrder($0) } ?? []
            let target = targets.isEmpty ? nil : targets[c % targets.count]
            let linked = target.flatMap { model.object($0, realm) }
            switch (property.kind, property.target) {
            case (.single, nil):
                let text = c % 4 == 0 ? nil : ["A", "B", "C"][c % 3]
                switch name {
                case "text":
                    model.set(serial, name, text.map { .text($0) } ?? .none)
                    object.setValue(text, forKey: name)
                case "amount":
                    model.set(serial, name, .number(Double(c % 5)))
                    object.setValue(Double(c % 5), forKey: name)
                default:
                    model.set(serial, name, .number(Double(c % 5)))
                    object.setValue(c % 5, forKey: name)
                }
            case (.single, _):
                let link = a % 3 == 0 ? nil : target
                model.set(serial, name, link.map { .row($0) } ?? .none)
                object.setValue(link == nil ? nil : linked, forKey: name)
            case (.many, _) where c % 8 == 7: clear(name, serial, object, &model)
            case (.many(true), _): editMap(name, serial, object, target, linked, &model)
            case (.many, _) where property.isSet: editSet(name, serial, object, target, linked, &model)
            case (.many, nil):
                editList(object.value(forKey: name) as? List<Int>, name, serial, .number(Double(c % 3)), c % 3, &model)
            case (.many, _):
                guard let target, let linked else { return }
                editList(object.value(forKey: name) as? List<ObjectBase>, name, serial, .row(target), linked, &model)
            case (.inverse, _): break
            }
        }

        private func clear(_ name: String, _ serial: Int, _ object: ObjectBase, _ model: inout ModelState) {
            switch object.value(forKey: name) {
            case let list as List<Int>: list.removeAll()
            case let list as List<ObjectBase>: list.removeAll()
            case let set as MutableSet<ObjectBase>: set.removeAll()
            case let map as Map<ObjectBase?>: map.removeAll()
            default: return
            }
            removeDenials(name, serial, &model)
            model.edit(serial, name) { slots, _ in slots = [] }
        }

        // Called when a collection is emptied, which counts as an assignment (O61).
        private func removeDenials(_ name: String, _ serial: Int, _ model: inout ModelState) {
            model.denials = model.denials.filter {
                if case .target(serial, name, _) = $0 { false } else { true }
            }
        }

        private func editList<Element>(
            _ list: List<Element>?, _ name: String, _ serial: Int, _ value: ModelState.Value, _ element: Element,
            _ model: inout ModelState
        ) {
            guard let list else { return }
            let count = list.count
            let (first, second) = (count == 0 ? 0 : a % count, count == 0 ? 0 : (a + c) % count)
            let choice = count == 0 ? 0 : kind % 5
            switch choice {
            case 0, 1: list.insert(element, at: a % (count + 1))
            case 2: list.remove(at: first)
            case 3: list.move(from: first, to: second)
            default: list[first] = element
            }
            if list.isEmpty { removeDenials(name, serial, &model) }
            model.edit(serial, name) { slots, now in
                let slot = ModelState.Slot(value: value, written: now)
                switch choice {
                case 0, 1: slots.insert(slot, at: a % (count + 1))
                case 2: slots.remove(at: first)
                case 3: slots.insert(slots.remove(at: first), at: second)
                default: slots[first] = slot
                }
            }
        }

        private func editSet(
            _ name: String, _ serial: Int, _ object: ObjectBase, _ target: Int?, _ linked: ObjectBase?,
            _ model: inout ModelState
        ) {
            guard let set = object.value(forKey: name) as? MutableSet<ObjectBase>, let target, let linked else {
                return
            }
            let isRemoval = kind % 3 == 0
            let isLast = isRemoval && set.count == 1 && set.contains(linked)
            if isRemoval { set.remove(linked) } else { set.insert(linked) }
            if isLast { removeDenials(name, serial, &model) }
            model.edit(serial, name) { slots, now in
                let known = slots.firstIndex { $0.value == .row(target) }
                if isRemoval, let known { slots.remove(at: known) }
                if !isRemoval, known == nil { slots.append(ModelState.Slot(value: .row(target), written: now)) }
            }
        }

        private func editMap(
            _ name: String, _ serial: Int, _ object: ObjectBase, _ target: Int?, _ linked: ObjectBase?,
            _ model: inout ModelState
        ) {
            guard let map = object.value(forKey: name) as? Map<ObjectBase?> else { return }
            let (key, isRemoval) = (["x", "y", "z"][c % 3], kind % 3 == 0)
            model.denials.remove(.target(of: serial, name, key: key))
            if isRemoval { map.removeObject(for: key) } else { map.updateValue(linked, forKey: key) }
            model.edit(serial, name) { slots, now in
                let known = slots.firstIndex { $0.key == key }
                let slot = ModelState.Slot(key: key, value: target.map { .row($0) } ?? .none, written: now)
                if let known { slots[known] = slot } else { slots.append(slot) }
                if isRemoval { slots.removeAll { $0.key == key } }
            }
        }
    }
}

extension ModelState {
    /// The object of a Realm for a row; nil if the row does not exist in the Realm.
    func object(_ serial: Int, _ realm: Realm) -> ObjectBase? {
        guard let type = rows[serial]?.type, let key = keys[serial], let table = realm.context.table(named: type) else {
            return nil
        }
        return table.exists(key) ? table.object(key) : nil
    }
}
