import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("consistent delivery")
struct ConsistentDeliveryTests {
    /// Computes the number of elements of a collection from the initial call and the change sets.
    private final class Counter {
        private(set) var count = -1
        var onCall: () throws -> Void = {}
        private var token: NotificationToken?

        init(_ dogs: Results<Dog>) {
            token = dogs.observe { [unowned self] change in
                switch change {
                case .initial(let dogs): count = dogs.count
                case .update(_, let deletions, let insertions, _): count += insertions.count - deletions.count
                case .error(let error): Issue.record(error)
                }
                do { try onCall() } catch { Issue.record(error) }
            }
        }
    }

    @Test("a change set that was computed before its token was invalidated pins no version N2 O2")
    func invalidatedBeforeDelivery() throws {
        let test = try TestRealm()
        do {
            let token = test.allDogs.observe { _ in Issue.record("an ended observer was called") }
            #expect(test.scheduler.waitForWork())
            token.invalidate()
        }
        test.scheduler.run()
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        test.realm.refresh()
        test.deliverAll()
        test.waitForSinglePin()
        #expect(test.realm.pinnedVersions.map(\.version) == [test.realm.version])
    }

    @Test("a delivery calls all observers at one version, even if change sets of a later version are computed N38")
    func overlapping() throws {
        let test = try TestRealm()
        let (dogs, others) = (test.allDogs, test.realm.objects(Dog.self).where { $0.name != "" })
        let (first, second) = (Counter(dogs), Counter(others))
        test.deliverAll()
        #expect(first.count == 0 && second.count == 0)
        // The change sets of the next version are computed while the first observer is called for this version. The
        // second observer is called afterwards.
        var isFirst = true
        first.onCall = {
            guard isFirst else { return }
            isFirst = false
            try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Max")) } }
            #expect(test.scheduler.waitForWork())
        }
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Rex")) } }
        for _ in 0..<20 where !test.realm.context.hub.isIdle {
            #expect(test.scheduler.waitForWork())
            test.scheduler.run()
            #expect(first.count == dogs.count && second.count == others.count)
        }
        #expect(first.count == 2 && second.count == 2)
    }
}
