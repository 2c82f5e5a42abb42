import Dispatch
import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("commits while a Realm is being opened")
struct WhileOpeningTests {
    /// Done once, by whoever comes first between its first look at the file and the moment from which on it is told.
    // Sendable: `body` is taken under the lock of its box.
    private final class Interruption: Sendable {
        private let body = Mutexed<(@Sendable () -> Void)?>(nil)

        func set(_ body: @escaping @Sendable () -> Void) { self.body.update { $0 = body } }

        func happen() {
            var taken: (@Sendable () -> Void)?
            body.update { body in
                taken = body
                body = nil
            }
            taken?()
        }
    }

    @Test("N27 what is committed between the first look of a Realm and its listening comes with a turn of its own")
    func beforeListening() throws {
        let interruption = Interruption()
        nonisolated(unsafe) let test = try TestRealm {
            $0.environment.step = { if $0 == .beforeListen { interruption.happen() } }
            // Nobody looks but who is told.
            $0.environment.externalCommitMilliseconds = 0
        }
        let scheduler = ManualScheduler()
        var configuration = test.configuration
        configuration.scheduler = scheduler
        interruption.set { try? test.elsewhere { realm in try realm.write { realm.add(Dog(name: "Rex")) } } }
        let queue = DispatchQueue(label: "opens")
        nonisolated(unsafe) let realm = try Realm(configuration: configuration, queue: queue)
        queue.sync { #expect(realm.isEmpty) }
        #expect(scheduler.waitForTurn())
        queue.sync {
            scheduler.turn()
            #expect(realm.objects(Dog.self).map(\.name) == ["Rex"])
        }
    }
}
