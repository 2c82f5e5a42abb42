import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("told together")
struct TogetherTests {
    /// What an observer was told of, counted by what it was told alone.
    private final class Counter {
        private(set) var count = -1
        var whenTold: () throws -> Void = {}
        private var token: NotificationToken?

        init(_ dogs: Results<Dog>) {
            token = dogs.observe { [unowned self] change in
                switch change {
                case .initial(let dogs): count = dogs.count
                case .update(_, let deletions, let insertions, _): count += insertions.count - deletions.count
                case .error(let error): Issue.record(error)
                }
                do { try whenTold() } catch { Issue.record(error) }
            }
        }
    }

    @Test("N2 O2 what was worked out for a token that ends before it is told keeps no version in use")
    func endedBeforeTold() throws {
        let test = try TestRealm()
        do {
            let token = test.allDogs.observe { _ in Issue.record("told") }
            #expect(test.scheduler.waitForTurn())
            token.invalidate()
        }
        test.scheduler.turn()
        try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        test.realm.refresh()
        test.settle()
        test.waitForOnePin()
        #expect(test.realm.pinnedVersions.map(\.version) == [test.realm.version])
    }

    @Test("N38 nobody is told of a version while another's change to it is still worked out")
    func overlapping() throws {
        let test = try TestRealm()
        let (dogs, others) = (test.allDogs, test.realm.objects(Dog.self).where { $0.name != "" })
        let (first, second) = (Counter(dogs), Counter(others))
        test.settle()
        #expect(first.count == 0 && second.count == 0)
        // The next version is worked out when the first was told of this one and the second was not.
        var isFirst = true
        first.whenTold = {
            guard isFirst else { return }
            isFirst = false
            try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Max")) } }
            #expect(test.scheduler.waitForTurn())
        }
        try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        for _ in 0..<20 where !test.realm.context.hub.isIdle {
            #expect(test.scheduler.waitForTurn())
            test.scheduler.turn()
            #expect(first.count == dogs.count && second.count == others.count)
        }
        #expect(first.count == 2 && second.count == 2)
    }
}
