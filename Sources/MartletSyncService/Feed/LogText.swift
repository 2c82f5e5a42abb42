import MartletEngine
import MartletSyncProtocol
import MartletValues

/// Writes entries of the log as text for people.
package struct LogText: Sendable {
    private let schema: SyncSchema

    package init(_ schema: SyncSchema) { self.schema = schema }

    /// Returns one line of text for an entry. A nil entry is written as the acknowledgement of an upload that names no
    /// object.
    package func line(_ entry: LogEntry?, _ origin: LogEntry.Origin?) -> String {
        let writer = origin.map { "client \($0.client), upload \($0.upload)" } ?? "SQL"
        guard let entry else { return "acknowledge (\(writer))" }
        let words = [operation(entry), address(entry.address), collections(entry), values(entry)].filter { !$0.isEmpty }
        return words.joined(separator: " ") + " (\(writer))"
    }

    private func operation(_ entry: LogEntry) -> String {
        if entry.isTouch { return "touch" }
        if !entry.collections.isEmpty { return "change elements of" }
        switch (entry.old, entry.new) {
        case (nil, _): return "insert"
        case (_, nil): return "delete"
        default: return "update"
        }
    }

    private func address(_ address: ObjectAddress) -> String {
        let name = schema.agreed.type(address.type)?.name ?? "type \(address.type)"
        return "\(name) \(text(.scalar(address.key)))"
    }

    private func collections(_ entry: LogEntry) -> String {
        let properties = schema.agreed.type(entry.address.type)?.properties ?? []
        return entry.collections.sorted().compactMap { properties.indices.contains($0) ? properties[$0].name : nil }
            .joined(separator: ", ")
    }

    private func values(_ entry: LogEntry) -> String {
        guard let new = entry.new, !entry.isTouch else { return "" }
        let properties = schema.agreed.type(entry.address.type)?.properties ?? []
        return new.sorted { $0.key < $1.key }
            .compactMap { path, value -> String? in
                let name = properties.indices.contains(path.first) ? properties[path.first].name : nil
                guard let old = entry.old else { return "\(name ?? "?"): \(text(value))" }
                let before = old[path] ?? .null
                return before == value ? nil : "\(name ?? "?"): \(text(before)) -> \(text(value))"
            }
            .joined(separator: ", ")
    }

    private func text(_ value: SyncValue) -> String {
        switch value {
        case .link(let target): return address(target)
        case .embedded(let values): return "{\(values.map(text).joined(separator: ", "))}"
        case .list(let values): return "[\(values.map(text).joined(separator: ", "))]"
        case .map(let entries):
            return "[\(entries.map { "\($0.key.debugDescription): \(text($0.value))" }.joined(separator: ", "))]"
        case .scalar(.null): return "nil"
        case .scalar(.integer(let number)): return "\(number)"
        case .scalar(.real(let number)): return "\(number)"
        case .scalar(.text(let text)): return text.debugDescription
        case .scalar(.blob(let bytes)):
            return "0x" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }
}
