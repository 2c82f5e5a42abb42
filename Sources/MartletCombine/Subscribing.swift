public import Martlet

/// An object, projection, collection or sections of a Realm that can be published.
public protocol RealmSubscribable: ThreadConfined {
    /// Observes this value in the current isolation, and calls `notify` with each change.
    func _publish(
        _ keyPaths: [String]?, _ notify: @escaping (_PublishedEvent) -> Void
    ) -> NotificationToken
}

/// A change of a published value. The value has the type `Any` and not `Self`, because `Object` and other classes that
/// conform to `RealmSubscribable` are not final.
public enum _PublishedEvent {
    /// The initial value. It is not reported for objects and projections.
    case initial(Any)
    case changed(Any)
    /// The object was deleted.
    case ended
    case failed(any Error)
}

extension RealmSubscribable where Self: KeyPathObservable {
    /// Reports changes of the object's properties, and its deletion.
    public func _publish(
        _ keyPaths: [String]?, _ notify: @escaping (_PublishedEvent) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths) { notify(_PublishedEvent($0)) }
    }
}

extension RealmSubscribable where Self: ObservableProjection {
    /// Reports changes of the projected properties, and the deletion of the object.
    public func _publish(
        _ keyPaths: [String]?, _ notify: @escaping (_PublishedEvent) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths) { notify(_PublishedEvent($0)) }
    }
}

extension RealmSubscribable where Self: ObservableCollection {
    /// Reports changes of the collection and its elements.
    public func _publish(
        _ keyPaths: [String]?, _ notify: @escaping (_PublishedEvent) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths) { change in
            switch change {
            case .initial(let collection): notify(.initial(collection))
            case .update(let collection, _, _, _): notify(.changed(collection))
            case .error(let error): notify(.failed(error))
            }
        }
    }
}

extension RealmSubscribable where Self: ObservableSections {
    /// Reports changes of the sections and their elements.
    public func _publish(
        _ keyPaths: [String]?, _ notify: @escaping (_PublishedEvent) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths) { change in
            switch change {
            case .initial(let sections): notify(.initial(sections))
            case .update(let sections, _, _, _, _, _): notify(.changed(sections))
            case .error(let error): notify(.failed(error))
            }
        }
    }
}

extension _PublishedEvent {
    fileprivate init<Observed>(_ change: ObjectChange<Observed>) {
        switch change {
        case .change(let object, _): self = .changed(object)
        case .deleted: self = .ended
        case .error(let error): self = .failed(error)
        }
    }
}

extension Object: RealmSubscribable {}
extension EmbeddedObject: RealmSubscribable {}
extension Projection: RealmSubscribable {}
extension Results: RealmSubscribable {}
extension List: RealmSubscribable {}
extension MutableSet: RealmSubscribable {}
extension LinkingObjects: RealmSubscribable {}
extension ProjectedResults: RealmSubscribable where Element: AnyProjection {}
extension SectionedResults: RealmSubscribable {}
extension ResultsSection: RealmSubscribable {}
extension SectionedValues: RealmSubscribable {}
extension ValuesSection: RealmSubscribable {}

extension Map: RealmSubscribable {
    /// Reports changes of the map and its values.
    public func _publish(
        _ keyPaths: [String]?, _ notify: @escaping (_PublishedEvent) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths) { change in
            switch change {
            case .initial(let map): notify(.initial(map))
            case .update(let map, _, _, _): notify(.changed(map))
            case .error(let error): notify(.failed(error))
            }
        }
    }
}
