import ConformanceModels
import MartletEngine

@testable import Martlet

/// An observer, with its copy of the observed data.
protocol CheckedObserver: AnyObject {
    func end()
    /// Checks that the copy is equal to the final contents.
    func checkFinal(_ contents: Contents)
}

/// An observer of one object. Each reported old value must be the value that was reported last. After the deletion of
/// the object has been reported, the observer must not be called again.
final class ObjectWatcher: CheckedObserver {
    private let run: Run
    private let code: String
    /// The last reported content; nil once the deletion was reported.
    private var content: Int?
    private var version: Version
    private var token: NotificationToken?

    init(_ object: StringKey, _ version: Version, _ run: Run) {
        self.run = run
        self.version = version
        code = object.code
        content = object.content
        token = object.observe { [weak self, run] in
            guard let self else { return run.fail("an observer that has ended is called") }
            receive($0)
        }
    }

    func end() { token = nil }

    private func receive(_ change: ObjectChange<StringKey>) {
        run.notifications += 1
        guard let content else {
            return run.fail("an observer of '\(code)' is called after the deletion of the object was reported")
        }
        switch change {
        case .deleted: self.content = nil
        case .error(let error): run.fail("an observer is notified of the error \(error)")
        case .change(let object, let changes):
            guard let realm = object.realm else { return run.fail("an observer is called without a Realm") }
            run.threadScheduler.addToTrace("an observer of '\(code)' is notified of version \(realm.version)")
            if version >= realm.version { run.fail("notified of version \(realm.version) after \(version)") }
            version = realm.version
            guard changes.map(\.name) == ["content"] else {
                return run.fail("notified of changes of \(changes.map(\.name))")
            }
            let (old, new) = (changes[0].oldValue as? Int, changes[0].newValue as? Int)
            if old != content {
                run.fail("the old value of '\(code)' is \(old.map { "\($0)" } ?? "nil") instead of \(content)")
            }
            if new == content { run.fail("notified without a change") }
            if new == nil || new != run.history.contents(at: version)[code] {
                run.fail("the new value of '\(code)' is \(new.map { "\($0)" } ?? "nil")")
            }
            self.content = new
        }
    }

    func checkFinal(_ contents: Contents) {
        if content != contents[code] {
            let last = content.map { "\($0)" } ?? "the deletion"
            run.fail("the observer of '\(code)' was last notified of \(last), at version \(version)")
        }
    }
}
