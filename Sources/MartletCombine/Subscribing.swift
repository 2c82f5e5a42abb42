public import Martlet

/// What can be published: objects, projections, collections and sections that are in a Realm.
public protocol RealmSubscribable: ThreadConfined {
    /// Observes where it is called, and tells of each change.
    func _publish(
        _ keyPaths: [String]?, _ tell: @escaping (_PublishedEvent) -> Void
    ) -> NotificationToken
}

/// What happens to something that is published. Untyped: the classes of objects are not final, so that a protocol cannot
/// speak of their own type.
public enum _PublishedEvent {
    /// It is there; told of collections only.
    case initial(Any)
    case changed(Any)
    /// It is gone.
    case ended
    case failed(any Error)
}

extension RealmSubscribable where Self: KeyPathObservable {
    /// Tells of changes of the object's properties, and of its end.
    public func _publish(
        _ keyPaths: [String]?, _ tell: @escaping (_PublishedEvent) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths) { tell(_PublishedEvent($0)) }
    }
}

extension RealmSubscribable where Self: ObservableProjection {
    /// Tells of changes of what the projection shows, and of its end.
    public func _publish(
        _ keyPaths: [String]?, _ tell: @escaping (_PublishedEvent) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths) { tell(_PublishedEvent($0)) }
    }
}

extension RealmSubscribable where Self: ObservableCollection {
    /// Tells of changes of what the collection holds.
    public func _publish(
        _ keyPaths: [String]?, _ tell: @escaping (_PublishedEvent) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths) { change in
            switch change {
            case .initial(let collection): tell(.initial(collection))
            case .update(let collection, _, _, _): tell(.changed(collection))
            case .error(let error): tell(.failed(error))
            }
        }
    }
}

extension RealmSubscribable where Self: ObservableSections {
    /// Tells of changes of what the sections hold.
    public func _publish(
        _ keyPaths: [String]?, _ tell: @escaping (_PublishedEvent) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths) { change in
            switch change {
            case .initial(let sections): tell(.initial(sections))
            case .update(let sections, _, _, _, _, _): tell(.changed(sections))
            case .error(let error): tell(.failed(error))
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
    /// Tells of changes of what the map holds.
    public func _publish(
        _ keyPaths: [String]?, _ tell: @escaping (_PublishedEvent) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths) { change in
            switch change {
            case .initial(let map): tell(.initial(map))
            case .update(let map, _, _, _): tell(.changed(map))
            case .error(let error): tell(.failed(error))
            }
        }
    }
}
