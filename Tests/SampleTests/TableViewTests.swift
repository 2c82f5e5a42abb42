import Foundation
import KennelModels
import Martlet
import MartletTestSupport
import ModelTesting
import Testing

/// The table view controller of the samples. Its rows are the objects of a collection, sorted by date.
private final class TableViewController: TableViewSource {
    let realm = try! Realm()
    let results = try! Realm().objects(DemoObject.self).sorted(byKeyPath: "date")
    let tableView = TableView()
    var notificationToken: NotificationToken!

    func viewDidLoad() {
        tableView.dataSource = self
        notificationToken = results.observe { [unowned self] (changes: RealmCollectionChange) in
            switch changes {
            case .initial:
                self.tableView.reloadData()
            case .update(_, let deletions, let insertions, let modifications):
                // Always apply updates in the following order: deletions, insertions, then modifications.
                self.tableView.beginUpdates()
                self.tableView.deleteRows(at: deletions.map { IndexPath(row: $0, section: 0) }, with: .automatic)
                self.tableView.insertRows(at: insertions.map { IndexPath(row: $0, section: 0) }, with: .automatic)
                self.tableView.reloadRows(at: modifications.map { IndexPath(row: $0, section: 0) }, with: .automatic)
                self.tableView.endUpdates()
            case .error(let error):
                fatalError("\(error)")
            }
        }
    }

    var numberOfRows: Int { results.count }
    func text(ofRow row: Int) -> String { results[row].title }

    /// True if the rows of the table view equal the collection.
    var isUpToDate: Bool { tableView.shown == results.map(\.title) }

    func load(_ titles: String...) throws {
        try realm.write {
            for (second, title) in titles.enumerated() {
                realm.add(DemoObject(title: title, date: Date(timeIntervalSinceReferenceDate: Double(second))))
            }
        }
        viewDidLoad()
        #expect(RunLoopThread.wait { self.tableView.reloads == 1 })
        #expect(tableView.shown == titles)
    }

    // MARK: Two ways to delete a row

    func deleteDirectly(at index: Int) throws {
        try realm.write(withoutNotifying: [notificationToken]) {
            realm.delete(results[index])
        }
        tableView.deleteRows(at: [IndexPath(row: index, section: 0)], with: .automatic)
    }

    func deleteAndRefresh(at index: Int) throws {
        try realm.write {
            realm.delete(results[index])
        }
        realm.refresh()
    }
}

/// Updates a table view from notifications, as in the documentation of Realm.
@Suite("samples: updating a table view", .serialized)
struct TableViewTests {
    @Test("rows are loaded once and updated with every change N19 N47")
    func rows() throws {
        try RunLoopThread.run {
            let screen = TableViewController()
            try screen.load("a", "b", "c", "d")
            try screen.realm.write {
                screen.realm.delete(screen.results[1])
                screen.results[0].title = "A"
                screen.realm.add(DemoObject(title: "e", date: Date(timeIntervalSinceReferenceDate: 1.5)))
            }
            #expect(RunLoopThread.wait { screen.tableView.shown == ["A", "e", "c", "d"] })
            #expect(screen.tableView.reloads == 1)
        }
    }

    @Test("a row is deleted immediately in the table view, and silently in the Realm N111")
    func directly() throws {
        try RunLoopThread.run {
            let screen = TableViewController()
            try screen.load("a", "b", "c")
            try screen.deleteDirectly(at: 1)
            #expect(screen.tableView.shown == ["a", "c"])
            // The next change set does not contain the deletion.
            try screen.realm.write { screen.results[1].title = "C" }
            #expect(RunLoopThread.wait { screen.tableView.shown == ["a", "C"] })
        }
    }

    @Test("refresh() reports a deleted row immediately N29")
    func refreshing() throws {
        try RunLoopThread.run {
            let screen = TableViewController()
            try screen.load("a", "b", "c")
            try screen.deleteAndRefresh(at: 0)
            #expect(screen.tableView.shown == ["b", "c"])
        }
    }

    @Test("after hundreds of changes on two threads, all rows are correct N40 N47 N48")
    func busy() throws {
        try RunLoopThread.run {
            let screen = TableViewController()
            try screen.load("a", "b", "c")
            let writer = BusyWriter(transactions: 150)
            var random = SeededRandom(seed: 7)
            var own = 0
            while !writer.isDone || own < 150 {
                if own < 150 {
                    try screen.realm.write { try change(screen.realm, &random, "s") }
                    own += 1
                }
                _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
            }
            #expect(writer.failure == nil)
            // Either thread may have made the last write, so the test waits until the changes of both threads are
            // delivered.
            #expect(RunLoopThread.wait { !screen.realm.refresh() && screen.isUpToDate })
            #expect(screen.tableView.reloads == 1)
            #expect(screen.results.count > 10)
        }
    }
}

/// Writes on its own thread.
// Sendable: the lock guards the outcome.
private final class BusyWriter: @unchecked Sendable {
    private let lock = NSLock()
    private var outcome: (isDone: Bool, failure: (any Error)?) = (false, nil)

    var isDone: Bool { lock.withLock { outcome.isDone } }
    var failure: (any Error)? { lock.withLock { outcome.failure } }

    init(transactions: Int) {
        Thread.detachNewThread { [self] in
            var failure: (any Error)?
            do {
                let realm = try Realm()
                var random = SeededRandom(seed: 11)
                for _ in 0..<transactions { try realm.write { try change(realm, &random, "b") } }
            } catch let error {
                failure = error
            }
            let end = failure
            lock.withLock { outcome = (true, end) }
        }
    }
}

/// Makes one to four changes of the objects in the table view.
private func change(_ realm: Realm, _ random: inout SeededRandom, _ name: String) throws {
    let objects = realm.objects(DemoObject.self).sorted(byKeyPath: "date")
    for _ in 0...Int.random(in: 0..<4, using: &random) {
        let index = objects.isEmpty ? nil : Int.random(in: 0..<objects.count, using: &random)
        let date = Date(timeIntervalSinceReferenceDate: Double.random(in: 0..<1000, using: &random))
        switch (Int.random(in: 0..<10, using: &random), index) {
        case (0..<3, let index?) where objects.count > 20: realm.delete(objects[index])
        case (3..<5, let index?): objects[index].title = "\(name)\(Int.random(in: 0..<1000, using: &random))"
        case (5..<7, let index?): objects[index].date = date
        default: realm.add(DemoObject(title: "\(name)\(Int.random(in: 0..<1000, using: &random))", date: date))
        }
    }
}
