import CMartletRuntime
import CMartletTestVFS
import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

/// Open Realms whose files are moved, deleted or replaced. Also tests files on network file systems, files with several
/// paths, forked processes, and processes without free descriptors.
@Suite("files that are moved, deleted or replaced while they are open")
struct FileChangeTests {
    @Test("writing to a moved file throws, and objects keep their values D24 O8")
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

    @Test(
        "an open file that was deleted stays readable but not writable, and opening it again creates a new file D24 O8"
    )
    func deleted() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex")[0]
        let log = Log(test.allDogs)
        test.deliverAll()
        for suffix in ["", "-wal", "-shm", ".lock"] {
            try? FileManager.default.removeItem(atPath: test.url.path + suffix)
        }
        test.realm.context.coordinator.pollForCommits()
        let error = #expect(throws: Realm.Error.self) { try test.realm.write { rex.name = "Bo" } }
        #expect(error?.code == .fileNotFound && error?.message.contains("open it again") == true)
        #expect(rex.name == "Rex" && test.names == ["Rex"] && rex.freeze().name == "Rex")
        #expect(try onOtherThread(test) { $0.objects(Dog.self).count } == 0)
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "Max")) } }
        test.deliverAll()
        #expect(test.names == ["Rex"] && log.take() == ["initial"])
    }

    @Test("an open file whose folder was deleted stays readable but not writable D24 O8")
    func folderDeleted() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex")[0]
        try FileManager.default.removeItem(at: test.url.deletingLastPathComponent())
        let error = #expect(throws: Realm.Error.self) { try test.realm.write { rex.name = "Bo" } }
        #expect(error?.code == .fileNotFound && rex.name == "Rex" && test.names == ["Rex"])
        #expect(throws: Realm.Error.self) { try test.onNewThread { _ in } }
    }

    @Test("opening a file on a network file system throws and creates no file D75 O1")
    func network() throws {
        let test = try TestRealm()
        let folder = test.url.deletingLastPathComponent()
        let networkFolder = folder.appendingPathComponent("networkFolder")
        try FileManager.default.createDirectory(at: networkFolder, withIntermediateDirectories: false)
        let link = folder.appendingPathComponent("near.realm")
        try FileManager.default.createSymbolicLink(
            at: link, withDestinationURL: networkFolder.appendingPathComponent("a.realm"))
        for url in [networkFolder.appendingPathComponent("a.realm"), link] {
            var configuration = Realm.Configuration(fileURL: url)
            configuration.environment.isOnNetwork = { $0.hasSuffix("/networkFolder") }
            let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
            #expect(error?.code == .fileAccess && error?.message.contains("network file system") == true)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: networkFolder.path).isEmpty)
    }

    @Test(
        "network file systems are recognized by their type numbers, and local ones are accepted D75 O1")
    func networkTypes() throws {
        // NFS, SMB, SMB2, CIFS, 9P and Ceph.
        let networks: [UInt32] = [0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x0102_1997, 0x00C3_6400]
        // ext4, btrfs, XFS, tmpfs and overlay.
        let local: [UInt32] = [0xEF53, 0x9123_683E, 0x5846_5342, 0x0102_1994, 0x794C_7630]
        #expect(networks.allSatisfy { cmartlet_is_network_type($0) == 1 })
        #expect(local.allSatisfy { cmartlet_is_network_type($0) == 0 })
        #expect(cmartlet_is_on_network(FileManager.default.temporaryDirectory.path) == 0)
    }

    @Test("relative, absolute and unnormalized paths of a file open one Realm D77 O1")
    func relativePaths() async {
        await #expect(processExitsWith: .success) {
            let test = try TestRealm()
            let folder = test.url.deletingLastPathComponent()
            guard FileManager.default.changeCurrentDirectoryPath(folder.path) else { exit(2) }
            let urls = [
                URL(fileURLWithPath: "test.realm"), URL(fileURLWithPath: "./test.realm"),
                URL(fileURLWithPath: "../\(folder.lastPathComponent)/test.realm"),
                URL(fileURLWithPath: "test.realm", relativeTo: folder),
            ]
            for url in urls {
                var configuration = test.configuration
                configuration.fileURL = url
                let realm = try Realm(configuration: configuration)
                #expect(realm == test.realm, "\(url)")
            }
        }
    }

    @Test("the exit of a forked child does not affect the locks, file and observers of the parent N144 O1")
    func forkedChild() async {
        await #expect(processExitsWith: .success) {
            let test = try TestRealm { $0.environment.writeTimeoutMilliseconds = 0 }
            let rex = try test.dogs("Rex")[0]
            let log = Log(test.allDogs)
            test.deliverAll()
            let foreign = try test.otherProcessRealm()
            try test.realm.beginWrite()
            rex.name = "Bo"
            let child = cmartlet_fork()
            // The child inherits all descriptors. Its exit closes them.
            if child == 0 { _exit(0) }
            var status: Int32 = 0
            waitpid(child, &status, 0)
            #expect(throws: Realm.Error.self) { try foreign.write {} }
            try test.realm.commitWrite()
            try foreign.write { foreign.add(Dog(name: "Max")) }
            test.realm.refresh()
            #expect(test.names == ["Bo", "Max"] && log.take() == ["initial", "[] [1] [0]"])
        }
    }

    @Test("a forked child that cancels a write of its parent traps, and the write of the parent continues N144 O1")
    func forkedWrite() async {
        await #expect(processExitsWith: .success) {
            let test = try TestRealm { $0.environment.writeTimeoutMilliseconds = 0 }
            let foreign = try test.otherProcessRealm()
            try test.realm.beginWrite()
            test.realm.add(Dog(name: "Rex"))
            let child = cmartlet_fork()
            if child == 0 {
                test.realm.cancelWrite()
                _exit(0)
            }
            var status: Int32 = 0
            waitpid(child, &status, 0)
            // The low bits of the status contain the signal that ended the child.
            #expect(status & 0x7f != 0)
            #expect(throws: Realm.Error.self) { try foreign.write {} }
            try test.realm.commitWrite()
            try foreign.write { foreign.add(Dog(name: "Max")) }
            test.realm.refresh()
            #expect(test.names == ["Rex", "Max"])
        }
    }

    @Test("a forked child that opens a file of its parent traps, even if the child has released its Realm N144")
    func reopenedInChild() async {
        await #expect(processExitsWith: .success) {
            let test = try TestRealm()
            var configuration = test.configuration
            configuration.fileURL = URL(fileURLWithPath: test.url.path + ".inherited")
            var realm: Realm? = try Realm(configuration: configuration)
            try realm?.write { realm?.add(Dog(name: "Rex")) }
            let child = cmartlet_fork()
            if child == 0 {
                realm = nil
                // Ends the child if it waits for a thread that exists only in the parent.
                alarm(30)
                _ = try? Realm(configuration: configuration)
                _exit(0)
            }
            var status: Int32 = 0
            waitpid(child, &status, 0)
            #expect(status & 0x7f != 0 && status & 0x7f != SIGALRM)
            try realm?.write { realm?.add(Dog(name: "Max")) }
            #expect(realm?.objects(Dog.self).map(\.name) == ["Rex", "Max"])
        }
    }

    @Test("a relative URL names a file in the directory that was current when the file was opened D77")
    func relativeText() async {
        await #expect(processExitsWith: .success) {
            let test = try TestRealm()
            let folder = test.url.deletingLastPathComponent()
            guard FileManager.default.changeCurrentDirectoryPath(folder.path) else { exit(2) }
            var configuration = test.configuration
            configuration.fileURL = URL(string: "relative.realm")
            let realm = try Realm(configuration: configuration)
            guard FileManager.default.changeCurrentDirectoryPath("/") else { exit(2) }
            try realm.write { realm.add(Dog(name: "Rex")) }
            #expect(FileManager.default.fileExists(atPath: folder.path + "/relative.realm"))
        }
    }

    @Test("a file that replaces an open one is opened as a different file D24 O1")
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

    @Test("a file and a symbolic link to it open one Realm D77 O1")
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

    @Test("opening a Realm without free descriptors throws, and an open Realm keeps working D79 O1")
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
