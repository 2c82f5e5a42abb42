public import Dispatch
import MartletEngine

/// A projection that can be observed. Its changes name properties by the labels of the projection.
public protocol ObservableProjection: AnyProjection {
    associatedtype Root: ObjectBase
    var rootObject: Root { get }
    init(projecting object: Root)
}

extension Projection: ObservableProjection {}

extension ObservableProjection {
    /// Calls `block` after changes of the projected values, and once when the object is deleted.
    ///
    /// A change contains labels and values of the projection; enums are reported as cases. Properties that are not
    /// projected are not observed.
    ///
    /// - Parameters:
    ///   - keyPaths: the labels to observe, or the key paths that they project; nil for all labels.
    ///   - queue: a serial queue on which `block` is called, instead of the Realm's thread, queue or actor. The
    ///     projection that the block receives can be used on this queue only.
    ///   - block: the closure that is called with each change.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        let labels = ProjectionLabels(Self.self)
        let selected = labels.selected(keyPaths)
        return rootObject.observe(queue) { context, table in
            var items = ObservedItems()
            for label in selected {
                items.append(label.name, value: label.path, watched: [label.path], table, context.schema) {
                    context.table($0).model?.make()
                }
            }
            return items
        } notify: { [self] outcome in
            switch outcome {
            case .change(let object, let changes):
                let isThis = object === rootObject
                block(.change(isThis ? self : Self(projecting: unsafeDowncast(object, to: Root.self)), changes))
            case .deleted: block(.deleted)
            case .failure(let error): block(.error(error))
            }
        }
    }

    /// Observes the values at Swift key paths of the projection.
    public func observe(
        keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        let labels = ProjectionLabels(Self.self)
        return observe(keyPaths: keyPaths.flatMap { labels.names($0) }, on: queue, block)
    }
}

/// The labels of a projection with their key paths.
struct ProjectionLabels {
    struct Label {
        let name: String
        let path: PropertyPath
    }

    let projection: String
    let all: [Label]

    init(_ type: any AnyProjection.Type) {
        guard let facts = SchemaFactsParser.projection("\(type._facts)") else {
            Misuse.notGenerated("\(type)", base: "Projection")
        }
        projection = facts.name
        all = facts.labels.map { Label(name: $0.label, path: PropertyPath($0.path)) }
    }

    /// The labels that `keyPaths` select; all labels if `keyPaths` is nil. An element of `keyPaths` is either a label,
    /// or a key path that selects every label that projects it.
    func selected(_ keyPaths: [String]?) -> [Label] {
        guard let keyPaths else { return all }
        let selectors = keyPaths.map { path -> (String) -> Bool in
            if all.contains(where: { $0.name == path }) { return { $0 == path } }
            let names = all.filter { $0.path.text == path }.map(\.name)
            if names.isEmpty { Misuse.unknownLabel(path, projection: projection, labels: all.map(\.name)) }
            return names.contains
        }
        return all.filter { label in selectors.contains { $0(label.name) } }
    }

    /// The labels that a Swift key path reads. The trace of a key path ends at a collection. If several labels project
    /// elements of that collection, returns all of them.
    func names<P: ObservableProjection>(_ keyPath: PartialKeyPath<P>) -> [String] {
        let names = KeyPathTracer.names(P.Root.self) { P(projecting: $0)[keyPath: keyPath] } ?? []
        let exact = all.filter { $0.path.names == names }
        let found = exact.isEmpty ? all.filter { $0.path.names.starts(with: names) && !names.isEmpty } : exact
        if found.isEmpty { Misuse.unknownLabel("\(keyPath)", projection: projection, labels: all.map(\.name)) }
        return found.map(\.name)
    }
}

extension ProjectedResults: ObservableCollection where Element: AnyProjection {
    /// Registers an observer. All variants of `observe` call this method.
    public func _observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, keepsDeleted: Bool,
        _ notify: @escaping (_CollectionEvent, ProjectedResults) -> Void
    ) -> NotificationToken {
        let labels = ProjectionLabels(Element.self)
        let project = project
        return storage.observe(labels.selected(keyPaths).map(\.path.text), queue, keepsDeleted: keepsDeleted) {
            event, storage in
            notify(event, ProjectedResults(storage, project))
        }
    }
}

extension ProjectedResults where Element: ObservableProjection {
    /// Observes the values at Swift key paths of the projection.
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<ProjectedResults>) -> Void
    ) -> NotificationToken {
        let labels = ProjectionLabels(Element.self)
        return observe(keyPaths: keyPaths.flatMap { labels.names($0) }, on: queue, block)
    }
}

extension ObservableProjection {
    /// A sequence of the changes of the projected values. The deletion of the object is the last element.
    ///
    /// - Parameter keyPaths: the labels to observe, as for `observe`.
    public func changes(keyPaths: [String]? = nil) -> Changes<ObjectChange<Self>> {
        Changes { [self] notify in observe(keyPaths: keyPaths) { notify($0) } }
    }
}
