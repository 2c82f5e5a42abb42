import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

/// A process that reaches its limit of file descriptors at each step of its work.
@Suite("limit of file descriptors")
struct DescriptorLimitTests {
    private static func openDescriptors() -> Int { (0..<Int32(256)).count { fcntl($0, F_GETFD) != -1 } }

    /// Runs `body` with a limit that lets the process open exactly `count` more files.
    private static func withSpareDescriptors<R>(_ count: Int, _ body: () throws -> R) rethrows -> R {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        var low = limit
        // The limit applies to descriptor numbers, so the free numbers below the highest open descriptor count too.
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

    /// Opens a file, observes, freezes, writes, and releases everything. Returns the number of nodes.
    @discardableResult
    private static func openAndWrite(_ configuration: Realm.Configuration, _ id: Int) throws -> Int {
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

    /// Waits until background work has closed the file, for at most about 10 seconds.
    private static func waitForClose(_ configuration: Realm.Configuration) {
        let pause = DispatchSemaphore(value: 0)
        for _ in 0..<10_000 where StoreRegistry.isOpen(configuration.path) {
            _ = pause.wait(timeout: .now() + .milliseconds(1))
        }
    }

    @Test("if no descriptor is free at some step, the call throws, no data is lost and no file stays open D79 O1 O4")
    func everyLimit() async {
        await #expect(processExitsWith: .success) {
            let test = try TestRealm()
            try test.realm.write { test.realm.add(Node(id: 0)) }
            var others = test.configuration
            others.fileURL = URL(fileURLWithPath: test.url.path + ".other")
            let other = others
            try Self.openAndWrite(other, 1_000)
            // Dispatch opens descriptors when it waits for the first time, and terminates the process if none is free.
            // So the process waits once before the test sets a limit.
            let waited = DispatchSemaphore(value: 0)
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { waited.signal() }
            waited.wait()
            Self.waitForClose(other)
            let before = Self.openDescriptors()
            var (refused, written) = (0, 0)
            for count in 0..<16 {
                do {
                    try Self.withSpareDescriptors(count) {
                        try Self.openAndWrite(other, count)
                        written += 1
                    }
                } catch let error as Realm.Error {
                    refused += 1
                    #expect([.fileAccess, .inputOutput].contains(error.code), "\(error)")
                }
                Self.waitForClose(other)
                // The file of `test` is already open, with all connections that the write needs.
                try Self.withSpareDescriptors(count) { try test.realm.write { test.realm.add(Node(id: 1 + count)) } }
                #expect(test.realm.objects(Node.self).count == count + 2)
            }
            #expect(refused > 0 && written > 0, "\(refused) refused, \(written) written")
            #expect(try Self.openAndWrite(other, 2_000) >= 2 * written + 4)
            Self.waitForClose(other)
            #expect(Self.openDescriptors() <= before + 4, "\(before) descriptors became \(Self.openDescriptors())")
        }
    }
}
