import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

/// An observer that applies each change set to a copy of the collection. The copy must then equal the current
/// collection.
private final class Replica {
    struct Row: Equatable, CustomStringConvertible {
        let id: ObjectId
        /// The values of the observed key paths, as text.
        let values: String
        var description: String { "\(id) \(values)" }
    }

    let name: String
    private var rows: [Row]?
    private let current: () -> [Row]
    private let isSorted: Bool
    /// True if the values of every row that is reported as modified must have changed.
    private let isExact: Bool
    var token: NotificationToken?
    private(set) var calls = 0

    init(_ name: String, isSorted: Bool = false, isExact: Bool = true, _ current: @escaping () -> [Row]) {
        self.name = name
        self.current = current
        self.isSorted = isSorted
        self.isExact = isExact
    }

    func initial() {
        #expect(rows == nil, "\(name): a second initial call")
        rows = current()
    }

    func update(_ change: CollectionChangeSet) {
        calls += 1
        guard let old = rows else {
            Issue.record("\(name): an update before the initial call")
            return
        }
        let new = current()
        var copy = old
        #expect(change.modifications.allSatisfy { !change.deletions.contains($0) })
        for position in change.deletions.reversed() { copy.remove(at: position) }
        for position in change.insertions { copy.insert(new[position], at: position) }
        for (position, now) in zip(change.modifications, change.modificationsInNew) {
            if isExact { #expect(old[position] != new[now], "\(name): \(position) is reported, but did not change") }
            copy[now] = new[now]
        }
        if copy != new { Issue.record("\(name): \(change)\n\(old)\n\(new)") }
        for move in change.moves { #expect(old[move.from].id == new[move.to].id, "\(name): a wrong move") }
        if !isSorted {
            let remaining = Set(new.map(\.id))
            let isMinimal = change.deletions.allSatisfy { !remaining.contains(old[$0].id) }
            #expect(isMinimal, "\(name): a remaining row is reported as deleted")
        }
        #expect(!change.deletions.isEmpty || !change.insertions.isEmpty || !change.modifications.isEmpty)
        rows = new
    }

    /// Checks that no change is missing. All changes must have been delivered before.
    func check() { if let rows, rows != current() { Issue.record("\(name): a change was not delivered") } }
}

/// An observer that applies the changes of one object to a copy of its values.
private final class ObjectReplica {
    private let dog: Dog
    private var values: [String: String] = [:]
    private static let names = ["name", "age", "favoriteToy", "notes"]
    private(set) var isDeleted = false
    var token: NotificationToken?

    init(_ dog: Dog) {
        self.dog = dog
        values = current()
        token = dog.observe { [unowned self] change in
            switch change {
            case .change(_, let changes): apply(changes)
            case .deleted:
                #expect(!isDeleted)
                isDeleted = true
            case .error(let error): Issue.record(error)
            }
        }
    }

    private func current() -> [String: String] {
        Dictionary(uniqueKeysWithValues: Self.names.map { ($0, "\(dog[$0] ?? "nil")") })
    }

    private func apply(_ changes: [PropertyChange]) {
        for change in changes where Self.names.contains(change.name) {
            #expect(values[change.name] == "\(change.oldValue ?? "nil")")
            values[change.name] = "\(change.newValue ?? "nil")"
        }
    }

    func check() {
        #expect(isDeleted == dog.isInvalidated)
        if !isDeleted { #expect(values == current()) }
    }
}

@Suite("random changes compared with the current state")
struct OracleTests {
    /// Whether only the observed Realm writes, or also a Realm of another thread or process.
    enum Writers: CaseIterable { case here, threads, processes }

    @Test(
        "applying a change set to the old state always results in the new state N47 N71 N99",
        arguments: Writers.allCases, [1, 2] as [UInt64])
    func replay(writers: Writers, seed: UInt64) throws {
        let test = try TestRealm { $0.environment.commitPollMilliseconds = 0 }
        let realm = test.realm
        var changes = RandomChanges(seed)
        let queue = DispatchQueue(label: "writer")
        var configuration = test.configuration
        configuration.scheduler = nil
        let settings = configuration
        nonisolated(unsafe) var other: Realm?
        nonisolated(unsafe) var box = changes
        let foreign = writers == .processes ? try test.otherProcessRealm() : nil
        func write() throws {
            let place = writers == .here ? 0 : Int.random(in: 0..<3, using: &changes.random)
            if place == 0 { return try changes.write(realm) }
            if let foreign {
                try changes.write(foreign)
                return realm.context.coordinator.pollForCommits()
            }
            box = changes
            try queue.sync {
                if other == nil { other = try Realm(configuration: settings, queue: queue) }
                if let other { try box.write(other) }
            }
            changes = box
        }
        for _ in 0..<12 { try write() }
        realm.refresh()
        var replicas = try observers(realm, isExact: writers != .processes)
        var objects = realm.objects(Dog.self).prefix(3).map { ObjectReplica($0) }
        for round in 0..<70 {
            for _ in 0..<Int.random(in: 1...3, using: &changes.random) { try write() }
            switch Int.random(in: 0..<4, using: &changes.random) {
            case 0: test.scheduler.run()
            case 1: test.deliverAll()
            case 2: break
            default:
                realm.refresh()
                replicas.forEach { $0.check() }
                objects.forEach { $0.check() }
            }
            if round % 60 == 59 {
                realm.refresh()
                objects = realm.objects(Dog.self).shuffled(using: &changes.random).prefix(3).map { ObjectReplica($0) }
                replicas.removeFirst(2)
                replicas += try observers(realm, isExact: writers != .processes).suffix(2)
            }
        }
        test.deliverAll()
        realm.refresh()
        replicas.forEach { $0.check() }
        objects.forEach { $0.check() }
        #expect(replicas.contains { $0.calls > 20 })
        queue.sync { other = nil }
    }

    private func observers(_ realm: Realm, isExact: Bool) throws -> [Replica] {
        let dogs = realm.objects(Dog.self)
        let person = try #require(realm.objects(Person.self).first)
        let dog = try #require(dogs.first)
        var replicas: [Replica] = []
        for paths in [ObservedPaths.fourLevels, .age, .ownerName, .siblingNames, .membership] {
            replicas.append(observe("all \(paths)", dogs, paths))
            replicas.append(observe("old \(paths)", dogs.where { $0.age > 5_000_000 }, paths))
            replicas.append(observe("by name \(paths)", dogs.sorted(byKeyPath: "name"), paths, isSorted: true))
            replicas.append(
                observe(
                    "by owner and age \(paths)",
                    dogs.sorted(by: [
                        SortDescriptor(keyPath: "owner.firstName"), SortDescriptor(keyPath: "age", ascending: false),
                    ]),
                    paths, isSorted: true))
        }
        replicas.append(observe("owner begins with A", dogs.where { $0.owner.firstName.starts(with: "A") }, .age))
        replicas.append(
            observe("a sibling begins with A", dogs.where { $0.siblings.name.starts(with: "A") }, .siblingNames))
        replicas.append(observe("sorted list", dog.siblings.sorted(byKeyPath: "age"), .age, isSorted: true))
        replicas.append(observe("linking objects", person.dogs, .fourLevels) { person.isInvalidated ? [] : Array($0) })
        replicas.append(
            observe("list", dog.siblings, .age, isSorted: true, isExact: false) { dog.isInvalidated ? [] : Array($0) })
        replicas.append(
            observe("deep list", dog.siblings, .fourLevels, isSorted: true, isExact: false) {
                dog.isInvalidated ? [] : Array($0)
            })
        return replicas
    }

    private func observe<C: ObservableCollection & Sequence>(
        _ name: String, _ collection: C, _ paths: ObservedPaths, isSorted: Bool = false, isExact: Bool = true,
        _ elements: @escaping (C) -> [Dog] = { Array($0) }
    ) -> Replica where C.Element == Dog {
        let replica = Replica(name, isSorted: isSorted, isExact: isExact) {
            elements(collection).map { Replica.Row(id: $0.id, values: paths.text($0)) }
        }
        replica.token = collection.observeChanges(keyPaths: paths.keyPaths) { [unowned replica] change in
            switch change {
            case .initial: replica.initial()
            case .update(_, let changes): replica.update(changes)
            case .error(let error): Issue.record(error)
            }
        }
        return replica
    }
}
