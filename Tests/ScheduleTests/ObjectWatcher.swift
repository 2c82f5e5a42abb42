import ConformanceModels
import MartletEngine

@testable import Martlet

/// Something that is observed, with what is known of it.
protocol Watching: AnyObject {
    func end()
    /// At rest it knows all there is.
    func checkEnd(_ world: World)
}

/// An observer of one object: what was before is told from the observer's view, and once it is deleted nothing is told any more.
final class ObjectWatcher: Watching {
    private let run: Run
    private let code: String
    /// The content that it knows of; nil once it was told that the object is deleted.
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
            hear($0)
        }
    }

    func end() { token = nil }

    private func hear(_ change: ObjectChange<StringKey>) {
        run.tellings += 1
        guard let content else { return run.fail("an observer of '\(code)' is called after its deletion") }
        switch change {
        case .deleted: self.content = nil
        case .error(let error): run.fail("an observer is told of \(error)")
        case .change(let object, let changes):
            guard let realm = object.realm else { return run.fail("an observer is called without a Realm") }
            run.baton.note("an observer of '\(code)' is told of version \(realm.version)")
            if version >= realm.version { run.fail("told of version \(realm.version) after \(version)") }
            version = realm.version
            guard changes.map(\.name) == ["content"] else { return run.fail("told of \(changes.map(\.name))") }
            let (old, new) = (changes[0].oldValue as? Int, changes[0].newValue as? Int)
            if old != content { run.fail("'\(code)' had \(content), told \(old.map { "\($0)" } ?? "nothing")") }
            if new == content { run.fail("told of no change") }
            if new == nil || new != run.ledger.world(version)[code] {
                run.fail("'\(code)' is told to have \(new.map { "\($0)" } ?? "nothing")")
            }
            self.content = new
        }
    }

    func checkEnd(_ world: World) {
        if content != world[code] { run.fail("an observer knows \(content ?? 0) of '\(code)' at version \(version)") }
    }
}
