import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// An observer that records the changes that it receives.
final class KeyValueRecorder: KeyValueObserver {
    private(set) var calls: [String] = []
    private(set) var changes: [[KeyValueChangeKey: Any]] = []
    private(set) var contexts: [UnsafeMutableRawPointer?] = []
    var onCall: (() -> Void)?

    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        calls.append(Self.text(keyPath, change ?? [:]))
        changes.append(change ?? [:])
        contexts.append(context)
        onCall?()
    }

    /// Returns the calls since the previous call of `take`.
    func take() -> [String] {
        defer {
            calls = []
            changes = []
        }
        return calls
    }

    /// Returns a change as text, such as `name: Rex -> Max` or `children insertion 0,1: - -> [#2, #3]`. The text of a
    /// prior call begins with `prior`. `-` means that the change has no such value, `#2` is the node with the id 2, and
    /// `live[#2]` is a live list.
    static func text(_ keyPath: String?, _ change: [KeyValueChangeKey: Any]) -> String {
        let kind = (change[.kindKey] as? UInt).flatMap(KeyValueChangeKind.init)
        var text = change[.notificationIsPriorKey] as? Bool == true ? "prior " : ""
        text += keyPath ?? "?"
        if let kind, kind != .setting { text += " \(kind)" }
        if let indexes = change[.indexesKey] as? IndexSet {
            text += " " + indexes.map(String.init).joined(separator: ",")
        }
        let values = [change[.oldKey], change[.newKey]]
        if values.contains(where: { $0 != nil }) {
            text += ": " + values.map { $0.map(value) ?? "-" }.joined(separator: " -> ")
        }
        return text
    }

    static func value(_ value: Any) -> String {
        switch value {
        case is NSNull: "nil"
        case let node as Node: node.isInvalidated ? "invalidated" : "#\(node.id)"
        case let list as List<Node>: "live[" + list.map { "#\($0.id)" }.joined(separator: ", ") + "]"
        case let array as [Any]: "[" + array.map(Self.value).joined(separator: ", ") + "]"
        case let part as Part: part.isInvalidated ? "invalidated" : part.name
        default: "\(value)"
        }
    }
}

extension KeyValueObservingOptions {
    static let both: Self = [.old, .new]
}

extension ObjectBase {
    /// Returns a recorder that observes the given key paths of this object.
    func recorder(_ keyPaths: String..., options: KeyValueObservingOptions = .both) -> KeyValueRecorder {
        let recorder = KeyValueRecorder()
        for keyPath in keyPaths { addObserver(recorder, forKeyPath: keyPath, options: options, context: nil) }
        return recorder
    }
}

extension TestRealm {
    /// Adds nodes with the ids from 1 to `count`.
    func nodes(_ count: Int) throws -> [Node] {
        let nodes = (1...count).map { Node(id: $0, name: "n\($0)") }
        try realm.write { realm.add(nodes) }
        return nodes
    }

    /// Changes a node in a write of another Realm, on another thread.
    func changeRemotely(_ id: Int, _ body: @escaping (Node, Realm) -> Void) throws {
        try onNewThread { realm in
            try realm.write {
                if let node = realm.object(ofType: Node.self, forPrimaryKey: id) { body(node, realm) }
            }
        }
    }
}

extension Realm {
    func node(_ id: Int) -> Node { object(ofType: Node.self, forPrimaryKey: id) ?? Node(id: -1) }
}
