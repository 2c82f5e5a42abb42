import ConformanceModels
import Foundation
import MartletSQLite
import MartletValues

@testable import Martlet

// Operations on `AnyRealmValue` (a property, and elements of a list, a set and a map), on the other properties of
// `Scalars`, and on rows with an enum.
extension Operation {
    /// The value to write, as a value of the model.
    ///
    /// - Parameter isPlain: Whether lists, maps and special numbers are excluded, as they are for sets.
    private func anyValue(_ model: ModelState, isPlain: Bool = false) -> ModelState.Value {
        let nodes = model.nodes
        let node = nodes.isEmpty ? ModelState.Value.none : .row(nodes[b % nodes.count].serial)
        return switch c % (isPlain ? 5 : 11) {
        case 0: .none
        case 1: .number(Double(b % 3))
        case 2: .text(letter)
        case 3, 4: node
        case 5: .list([.number(Double(b % 3)), node])
        case 6: .map(["x": node, "y": .text(letter)])
        case 7: .list([.map(["z": node]), .none])
        case 8: .map(["x": .list([node, node])])
        case 9: .number(amount)
        default: .list([.number(amount), node])
        }
    }

    /// Converts a value of the model to a value for the Realm.
    private func live(_ value: ModelState.Value, _ model: ModelState, _ realm: Realm) -> AnyRealmValue {
        switch value {
        case .none: .none
        case .number(let number): number.asWhole.map { .int($0) } ?? .double(number)
        case .text(let text): .string(text)
        case .row(let row):
            model.id(row).flatMap { realm.object(ofType: Node.self, forPrimaryKey: $0) }.map { .object($0) } ?? .none
        case .list(let values): .list(values.map { live($0, model, realm) })
        case .map(let entries): .map(entries.mapValues { live($0, model, realm) })
        }
    }

    /// The amount as a decimal in the model. Decimals have no negative zero.
    private var decimalAmount: Double { amount == 0 ? 0 : amount }

    private var decimal: Decimal128 {
        if amount.isNaN { return .nan }
        if amount.isInfinite { return amount < 0 ? Decimal128("-inf") : .infinity }
        return Decimal128(Int(amount))
    }

    private var date: Date { Date(timeIntervalSinceReferenceDate: amount) }

    func editAny(_ model: inout ModelState, _ realm: Realm) {
        switch kind {
        case .anyInsert, .anyReplace, .anyRemove, .anyMove: editAnyList(&model, realm)
        case .anyKeySet, .anyKeyRemove: editAnyMap(&model, realm)
        case .anySetInsert, .anySetRemove: editAnySet(&model, realm)
        case .enumRow: editEnumRow(&model, realm)
        case .anyAdd:
            let (id, value) = (a % 4, anyValue(model))
            guard !model.scalars.contains(where: { $0.id == id }) else { return }
            realm.add(
                Scalars(
                    id: id, int: b % 5, float: Float(amount), date: date, decimal128: decimal,
                    anyValue: live(value, model, realm)))
            _ = model.add(
                "Scalars",
                [
                    "id": .number(Double(id)), "int": .number(Double(b % 5)), "float": .number(amount),
                    "date": .number(amount), "decimal128": .number(decimalAmount), "anyValue": value,
                ])
        default: editAnyProperty(&model, realm)
        }
    }

    /// Adds, changes or deletes a row with an enum. Some rows have a raw value for which the enum has no case.
    private func editEnumRow(_ model: inout ModelState, _ realm: Realm) {
        let id = a % 4
        let (state, raw) = b.isMultiple(of: 2) ? (State.open, "o") : (State.closed, "c")
        guard let (_, serial) = model.enumRows.first(where: { $0.id == id }),
            let holder = realm.object(ofType: EnumHolder.self, forPrimaryKey: id)
        else {
            let holder = EnumHolder(id: id, state: state)
            realm.add(holder)
            let isUnknown = b.isMultiple(of: 3)
            _ = model.add("EnumHolder", ["id": .number(Double(id)), "state": .text(isUnknown ? "x" : raw)])
            if !isUnknown { return }
            // The update is not recorded as a change, but observers are notified of the new row.
            realm.context.read { try? $0.run("UPDATE EnumHolder SET state = 'x' WHERE id = ?1", [.integer(Int64(id))]) }
            return realm.context.markStale(holder)
        }
        if c.isMultiple(of: 4) {
            model.delete(serial)
            realm.delete(holder)
            return
        }
        model.set(serial, "state", .text(raw))
        holder.state = state
    }

    private func editAnyProperty(_ model: inout ModelState, _ realm: Realm) {
        let scalars = model.scalars
        guard !scalars.isEmpty else { return }
        let (id, serial) = scalars[a % scalars.count]
        guard let object = realm.object(ofType: Scalars.self, forPrimaryKey: id) else { return }
        let value = anyValue(model)
        switch kind {
        case .anyDelete:
            model.delete(serial)
            realm.delete(object)
        case .anyNumbers:
            model.set(serial, "int", .number(Double(b % 5)))
            object.int = b % 5
            if c.isMultiple(of: 3) { return }
            model.set(serial, "float", .number(amount))
            object.float = Float(amount)
            model.set(serial, "date", .number(amount))
            object.date = date
            if a.isMultiple(of: 3) { return }
            model.set(serial, "decimal128", .number(decimalAmount))
            object.decimal128 = decimal
        case .anyAssign:
            object.anyValue = live(value, model, realm)
            model.set(serial, "anyValue", value)
        default: put(value, serial, object, &model, realm)
        }
    }

    /// Adds the value to the map that the property contains, or to its list of fewer than four elements. Otherwise
    /// assigns a new list that contains the value.
    private func put(
        _ value: ModelState.Value, _ serial: Int, _ object: Scalars, _ model: inout ModelState, _ realm: Realm
    ) {
        let new = live(value, model, realm)
        switch model.singleValue(serial, "anyValue") {
        case .list(let values) where values.count < 4:
            object.anyValue.append(new)
            model.set(serial, "anyValue", .list(values + [value]))
        case .map(let entries):
            object.anyValue[key] = new
            model.set(serial, "anyValue", .map(entries.merging([key: value]) { $1 }))
        default:
            object.anyValue = .list([new])
            model.set(serial, "anyValue", .list([value]))
        }
    }

    private func editAnyList(_ model: inout ModelState, _ realm: Realm) {
        guard let row = model.only("ScalarLists"), let list = realm.objects(ScalarLists.self).first?.anyValues else {
            return
        }
        let (count, value) = (list.count, anyValue(model))
        if count == 0 && kind != .anyInsert { return }
        let (first, second) = (count == 0 ? 0 : a % count, count == 0 ? 0 : b % count)
        switch kind {
        case .anyInsert: list.insert(live(value, model, realm), at: a % (count + 1))
        case .anyReplace: list[first] = live(value, model, realm)
        case .anyRemove: list.remove(at: first)
        default: list.move(from: first, to: second)
        }
        model.edit(row, "anyValues") { slots, now in
            let slot = ModelState.Slot(value: value, written: now)
            switch kind {
            case .anyInsert: slots.insert(slot, at: a % (count + 1))
            case .anyReplace: slots[first] = slot
            case .anyRemove: slots.remove(at: first)
            default: slots.insert(slots.remove(at: first), at: second)
            }
        }
    }

    private func editAnyMap(_ model: inout ModelState, _ realm: Realm) {
        guard let row = model.only("ScalarMaps"), let map = realm.objects(ScalarMaps.self).first?.anyValues else {
            return
        }
        let value = anyValue(model)
        if kind == .anyKeyRemove { map.removeObject(for: partKey) } else { map[partKey] = live(value, model, realm) }
        model.edit(row, "anyValues") { slots, now in
            let known = slots.firstIndex { $0.key == partKey }
            let slot = ModelState.Slot(key: partKey, value: value, written: now)
            switch (kind, known) {
            case (.anyKeyRemove, let known?): slots.remove(at: known)
            case (.anyKeyRemove, nil): break
            case (_, let known?): slots[known] = slot
            case (_, nil): slots.append(slot)
            }
        }
    }

    private func editAnySet(_ model: inout ModelState, _ realm: Realm) {
        guard let row = model.only("ScalarSets"), let set = realm.objects(ScalarSets.self).first?.anyValues else {
            return
        }
        let value = anyValue(model, isPlain: true)
        if kind == .anySetRemove {
            set.remove(live(value, model, realm))
        } else {
            set.insert(live(value, model, realm))
        }
        model.edit(row, "anyValues") { slots, now in
            let known = slots.firstIndex { $0.value == value }
            if kind == .anySetRemove, let known { slots.remove(at: known) }
            if kind == .anySetInsert, known == nil { slots.append(ModelState.Slot(value: value, written: now)) }
        }
    }

    func anyText(_ model: ModelState) -> String {
        if kind == .enumRow {
            return
                "enum row \(a % 4): '\(b.isMultiple(of: 2) ? "o" : "c")'\(c.isMultiple(of: 4) ? ", or delete it" : "")"
        }
        let isPlain = kind == .anySetInsert || kind == .anySetRemove
        return "\(kind) \(a), \(b), \(partKey), \(key): \(model.shown(anyValue(model, isPlain: isPlain)))"
    }
}

extension ModelState {
    /// The primary keys and serial numbers of the rows of `Scalars`, sorted by primary key.
    var scalars: [(id: Int, serial: Int)] { byID("Scalars") }

    /// The primary keys and serial numbers of the rows of `EnumHolder`, sorted by primary key.
    var enumRows: [(id: Int, serial: Int)] { byID("EnumHolder") }

    private func byID(_ type: String) -> [(id: Int, serial: Int)] {
        rows.compactMap { serial, row -> (id: Int, serial: Int)? in
            row.type == type ? id(serial).map { ($0, serial) } : nil
        }.sorted { $0.id < $1.id }
    }
}

extension Double {
    /// The number as an integer; nil for fractions, NaN, infinities and negative zero. An `AnyRealmValue` contains
    /// these numbers as doubles.
    var asWhole: Int? { self == 0 && sign == .minus ? nil : Int(exactly: self) }
}

extension ModelState.Value {
    /// Whether the value contains a link, at any depth.
    var containsLink: Bool {
        switch self {
        case .row: true
        case .list(let values): values.contains(where: \.containsLink)
        case .map(let entries): entries.values.contains(where: \.containsLink)
        default: false
        }
    }
}

extension AnyRealmValue {
    /// The text that the model shows for an equal value.
    var shown: String {
        switch self {
        case .none: "nil"
        case .int(let number): "\(Double(number))"
        case .double(let number): "\(number)"
        case .string(let text): text
        case .object(let object): object.isInvalidated ? "gone" : "\((object as? Node)?.id ?? -1)"
        case .list(let values): "[" + values.map(\.shown).joined(separator: ", ") + "]"
        case .map(let entries):
            "{" + entries.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.shown)" }.joined(separator: ", ")
                + "}"
        default: "another kind: \(self)"
        }
    }
}
