import ConformanceModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

/// After changes that cancel each other out, the chunks of a list in memory still match the chunks in the file.
@Suite struct StoredChunksTests {
    @Test(
        "a Realm reads a list again after another Realm has made changes that cancel each other out O4",
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
                // With this additional commit, the refresh of 'test.realm' also merges two change sets.
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
