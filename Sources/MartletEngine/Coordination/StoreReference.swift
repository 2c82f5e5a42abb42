import Synchronization

/// Keeps a file open for a value that is passed to another thread, until a Realm on that thread uses the value.
package final class StoreReference: Sendable {
    package let coordinator: StoreCoordinator

    package init(_ coordinator: StoreCoordinator) {
        self.coordinator = coordinator
        coordinator.referenceCount.add(1, ordering: .relaxed)
    }

    deinit { coordinator.referenceCount.subtract(1, ordering: .relaxed) }
}
