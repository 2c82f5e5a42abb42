import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

/// What happens to an open Realm when somebody does things to its file.
@Suite("files that change under a Realm")
struct FileChangeTests {
    @Test("O8 a file that was moved away is not written to any more, and what was read stays")
    func moved() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex")[0]
        let away = test.url.deletingLastPathComponent().appendingPathComponent("away.realm")
        try FileManager.default.moveItem(at: test.url, to: away)
        let error = #expect(throws: Realm.Error.self) { try test.realm.write { rex.name = "Bo" } }
        #expect(error?.code == .fileNotFound && error?.message.contains("moved, deleted or replaced") == true)
        #expect(!test.realm.isInWriteTransaction && rex.name == "Rex" && test.names == ["Rex"])
        try FileManager.default.moveItem(at: away, to: test.url)
        try test.realm.write { rex.name = "Bo" }
        #expect(rex.name == "Bo")
    }

    @Test("O1 another file in the place of an open one is opened as what it is")
    func replaced() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex")[0]
        let folder = test.url.deletingLastPathComponent()
        let other = Realm.Configuration(fileURL: folder.appendingPathComponent("other.realm"))
        do {
            let realm = try Realm(configuration: other)
            try realm.write { realm.add(Dog(name: "Max")) }
        }
        for suffix in ["", "-wal", "-shm", ".lock"] {
            let (from, to) = (other.path + suffix, test.url.path + suffix)
            try? FileManager.default.removeItem(atPath: to)
            if FileManager.default.fileExists(atPath: from) {
                try FileManager.default.moveItem(atPath: from, toPath: to)
            }
        }
        #expect(try onOtherThread(test) { $0.objects(Dog.self).map(\.name) } == ["Max"])
        #expect(test.names == ["Rex"])
        let error = #expect(throws: Realm.Error.self) { try test.realm.write { rex.name = "Bo" } }
        #expect(error?.code == .fileNotFound)
        #expect(try onOtherThread(test) { $0.objects(Dog.self).map(\.name) } == ["Max"])
    }

    @Test("O1 one file under two paths is one Realm")
    func twoPaths() throws {
        let test = try TestRealm()
        try test.dogs("Rex")
        let link = test.url.deletingLastPathComponent().appendingPathComponent("link.realm")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: test.url)
        var configuration = test.configuration
        configuration.fileURL = link
        let second = try Realm(configuration: configuration)
        #expect(second == test.realm)
        try second.write { second.add(Dog(name: "Max")) }
        #expect(test.names == ["Rex", "Max"])
    }

    @Test("O1 a process that may open no more files is told so, and loses nothing")
    func descriptors() async {
        await #expect(processExitsWith: .success) {
            let test = try TestRealm()
            try test.dogs("Rex")
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
            var low = limit
            low.rlim_cur = 3
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &low)
            let other = Realm.Configuration(fileURL: URL(fileURLWithPath: test.url.path + ".other"))
            let error = #expect(throws: Realm.Error.self) { try Realm(configuration: other) }
            #expect(error?.code == .fileAccess)
            try test.realm.write { test.allDogs[0].name = "Bo" }
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let realm = try Realm(configuration: other)
            #expect(realm.isEmpty && test.names == ["Bo"])
        }
    }
}
