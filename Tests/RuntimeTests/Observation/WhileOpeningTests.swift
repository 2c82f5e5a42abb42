import Dispatch
import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("commits while a Realm is being opened")
struct WhileOpeningTests {
    /// Runs a closure once. `run` is called when a Realm has read its first version, but is not registered as a
    /// listener for commits yet.
    // Sendable: `LockedValue` guards `body`.
    private final class Interruption: Sendable {
        private let body = LockedValue<(@Sendable () -> Void)?>(nil)

        func set(_ body: @escaping @Sendable () -> Void) { self.body.update { $0 = body } }

        func run() {
            var taken: (@Sendable () -> Void)?
            body.update { body in
                taken = body
                body = nil
            }
            taken?()
        }
    }

    @Test("a commit between the first read of a Realm and its registration as a listener is delivered N27")
    func beforeListening() throws {
        let interruption = Interruption()
        nonisolated(unsafe) let test = try TestRealm {
            $0.environment.onYield = { if $0 == .beforeListen { interruption.run() } }
            // Disables polling. So a Realm looks for a commit only if it is notified of the commit.
            $0.environment.commitPollMilliseconds = 0
        }
        let scheduler = ManualScheduler()
        var configuration = test.configuration
        configuration.scheduler = scheduler
        interruption.set { try? test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Rex")) } } }
        let queue = DispatchQueue(label: "opens")
        nonisolated(unsafe) let realm = try Realm(configuration: configuration, queue: queue)
        queue.sync { #expect(realm.isEmpty) }
        #expect(scheduler.waitForWork())
        queue.sync {
            scheduler.run()
            #expect(realm.objects(Dog.self).map(\.name) == ["Rex"])
        }
    }
}
