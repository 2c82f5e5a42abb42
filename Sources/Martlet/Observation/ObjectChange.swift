/// One property that changed.
public struct PropertyChange {
    /// The property's name; of a projection, its label.
    public let name: String
    /// The value at the observer's previous call; nil for collections.
    public let oldValue: Any?
    /// The value now; nil for collections.
    public let newValue: Any?
}

/// What happened to an object.
public enum ObjectChange<Observed> {
    case error(any Error)
    /// One entry for each property that changed, in schema order.
    case change(Observed, [PropertyChange])
    case deleted
}

/// What happened to a collection.
public enum RealmCollectionChange<Collection> {
    /// The collection is there; always the first call.
    case initial(Collection)
    /// Deletions and modifications are positions in the collection as it was at the previous call, insertions in the
    /// collection as it is now, each ascending: applied in this order they turn the old collection into the new one.
    case update(Collection, deletions: [Int], insertions: [Int], modifications: [Int])
    case error(any Error)
}
