import MartletEngine

/// Retains the link targets that the body of a loop has read last. Many rows often link to few objects. If nothing
/// retained a target, it would be read again for each row.
///
/// Used on the executor of its context only, except for `deinit`.
final class LinkTargets {
    /// The maximum number of retained targets. Their accessors take a few megabytes.
    static let limit = 16_384

    private let context: RealmContext
    private var targets: [ObjectBase] = []
    private var oldest = 0

    init(_ context: RealmContext) { self.context = context }

    deinit {
        if context.linkTargets?.toOpaque() == Unmanaged.passUnretained(self).toOpaque() { context.linkTargets = nil }
    }

    /// Retains the link targets that the program reads from now on, until another loop continues.
    func begin() { context.linkTargets = Unmanaged.passUnretained(self) }

    /// Retains a target that was not in memory. At the limit, the new target replaces the oldest one.
    func keep(_ target: ObjectBase) {
        if targets.count < Self.limit {
            targets.append(target)
        } else {
            targets[oldest] = target
            oldest = (oldest + 1) % Self.limit
        }
    }
}

extension ObjectTable {
    /// The accessor of the target of a link.
    func linkTarget(_ key: ObjectKey) -> ObjectBase {
        guard let targets = context.linkTargets else { return object(key) }
        if let known = identity.object(key) { return known }
        let made = object(key)
        targets._withUnsafeGuaranteedRef { $0.keep(made) }
        return made
    }
}
