import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

/// A process that may open only so many files, whatever it is doing when there are no more.
@Suite("few descriptors")
struct DescriptorTests {
    private static func openDescriptors() -> Int { (0..<Int32(256)).count { fcntl($0, F_GETFD) != -1 } }

    /// Lets the process open so many files more than it has open, and no more.
    private static func withMore<R>(_ count: Int, _ body: () throws -> R) rethrows -> R {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        var low = limit
        // What is free below the highest that is open may be used, too.
        var free = count
        low.rlim_cur = 0
        while free > 0 || fcntl(Int32(low.rlim_cur), F_GETFD) != -1 {
            if fcntl(Int32(low.rlim_cur), F_GETFD) == -1 { free -= 1 }
            low.rlim_cur += 1
        }
        setrlimit(resource, &low)
        defer { setrlimit(resource, &limit) }
        return try body()
    }

    /// Opens a file, observes, freezes and writes, and lets go of everything. Returns how many nodes there are.
    @discardableResult
    private static func use(_ configuration: Realm.Configuration, _ id: Int) throws -> Int {
        var configuration = configuration
        configuration.scheduler = ManualScheduler()
        let realm = try Realm(configuration: configuration)
        let token = realm.objects(Node.self).observe { _ in }
        defer { token.invalidate() }
        try realm.write { realm.add(Node(id: id)) }
        let frozen = realm.objects(Node.self).freeze()
        try realm.write { realm.add(Node(id: id + 100)) }
        #expect(frozen.count < realm.objects(Node.self).count)
        return realm.objects(Node.self).count
    }

    /// Waits until the background has let go of a file, for a time that is long for any machine.
    private static func waitForClose(_ configuration: Realm.Configuration) {
        let nobody = DispatchSemaphore(value: 0)
        for _ in 0..<10_000 where StoreRegistry.isOpen(configuration.path) {
            _ = nobody.wait(timeout: .now() + .milliseconds(1))
        }
    }

    @Test("D79 O1 O4 wherever descriptors run out an error is thrown, nothing is lost, and nothing stays open")
    func everyLimit() async {
        await #expect(processExitsWith: .success) {
            let test = try TestRealm()
            try test.realm.write { test.realm.add(Node(id: 0)) }
            var others = test.configuration
            others.fileURL = URL(fileURLWithPath: test.url.path + ".other")
            let other = others
            try Self.use(other, 1_000)
            // Dispatch itself ends a program that has none left when it first waits for something.
            let waited = DispatchSemaphore(value: 0)
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { waited.signal() }
            waited.wait()
            Self.waitForClose(other)
            let before = Self.openDescriptors()
            var (refused, written) = (0, 0)
            for count in 0..<16 {
                do {
                    try Self.withMore(count) {
                        try Self.use(other, count)
                        written += 1
                    }
                } catch let error as Realm.Error {
                    refused += 1
                    #expect([.fileAccess, .inputOutput].contains(error.code), "\(error)")
                }
                Self.waitForClose(other)
                // Here the file is open, and its connections are there.
                try Self.withMore(count) { try test.realm.write { test.realm.add(Node(id: 1 + count)) } }
                #expect(test.realm.objects(Node.self).count == count + 2)
            }
            #expect(refused > 0 && written > 0, "\(refused) refused, \(written) written")
            #expect(try Self.use(other, 2_000) >= 2 * written + 4)
            Self.waitForClose(other)
            #expect(Self.openDescriptors() <= before + 4, "\(before) descriptors became \(Self.openDescriptors())")
        }
    }
}
