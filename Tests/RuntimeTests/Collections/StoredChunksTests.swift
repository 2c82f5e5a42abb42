import ConformanceModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

/// The chunks of a list in memory match those in the file, even after changes that leave its elements as they were.
@Suite struct StoredChunksTests {
    @Test(
        "a list is read again after other writers' changes that cancel each other out O4",
        arguments: [false, true])
    func cancellingChanges(_ areInOneWrite: Bool) throws {
        let test = try TestRealm { $0.environment.chunkLimit = 2 }
        let lists = ScalarLists()
        try test.realm.write {
            test.realm.add(lists)
            lists.ints.append(objectsIn: 0..<6)
        }
        #expect(Array(lists.ints) == [0, 1, 2, 3, 4, 5])
        try test.onNewThread { realm in
            guard let ints = realm.objects(ScalarLists.self).first?.ints else { return }
            if areInOneWrite {
                // Adds a commit before the one below, so that the refresh of `test.realm` merges two change sets, as in
                // the other branch.
                try realm.write { realm.add(Scalars()) }
                try realm.write {
                    ints.insert(7, at: 2)
                    ints.remove(at: 2)
                }
            } else {
                try realm.write { ints.insert(7, at: 2) }
                try realm.write { ints.remove(at: 2) }
            }
        }
        test.realm.refresh()
        try test.realm.write { lists.ints[3] = 8 }
        try test.onNewThread { realm in
            let stored = realm.objects(ScalarLists.self).first.map { Array($0.ints) }
            #expect(stored == [0, 1, 2, 8, 4, 5])
        }
    }
}
