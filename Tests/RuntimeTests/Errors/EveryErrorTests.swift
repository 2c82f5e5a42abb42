import ConformanceModels
import Foundation
import Testing

@testable import Martlet

/// Provokes every code of `Realm.Error` with a fault, except the codes of synchronization. After each fault, the file
/// must still contain all committed objects.
@Suite("every error") struct EveryErrorTests {
    @Test("a fault causes an error with its code and advice, and loses no committed data O66 D3", arguments: Fault.all)
    func fault(_ fault: Fault) throws {
        let fixture = try FaultFixture()
        let error = #expect(throws: Realm.Error.self) { try fault.provoke(fixture) }
        #expect(error?.code == fault.code, "\(error?.description ?? "nothing was thrown")")
        #expect(error?.message.contains(fault.messagePart) == true, "\(error?.message ?? "")")
        #expect(error?.description.contains(fault.code.rawValue) == true)
        try fault.repair(fixture)
        let ids = try fixture.nodes()
        let mayBeCommitted = fault.code == .commitOutcomeUnknown && ids == [1, 2, 3, 4]
        #expect(ids == [1, 2, 3] || mayBeCommitted)
        try fixture.open().write { try fixture.open().add(Node(id: 9)) }
        #expect(try fixture.nodes().last == 9)
    }

    @Test("messages begin with a lower-case word or a name, and end without a full stop O66", arguments: Fault.all)
    func style(_ fault: Fault) throws {
        let fixture = try FaultFixture()
        let error = #expect(throws: Realm.Error.self) { try fault.provoke(fixture) }
        let message = error?.message ?? ""
        #expect(message.first.map { $0.isLowercase || $0.isNumber || $0 == "'" } == true, "\(message)")
        #expect(!message.hasSuffix(".") && (error?.path != nil || fault.code == .invalidInput))
        try fault.repair(fixture)
    }

    @Test("every code is provoked by a fault O66") func completeness() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let source = root.appending(path: "Sources/Martlet/Objects/Realm/RealmError.swift")
        let declared = try String(contentsOf: source, encoding: .utf8)
            .matches(of: /public static let (\w+) = Code\(rawValue: "(\w+)"\)/)
        #expect(declared.count > 10 && declared.allSatisfy { $0.1 == $0.2 })
        let codes = Set(declared.map { String($0.1) })
        // SyncTests provokes the errors of synchronization.
        let ofSynchronization: Set = ["wrongUser", "subscriptionRefused", "syncTimedOut"]
        let expected = codes.subtracting(ofSynchronization)
        #expect(expected.subtracting(Fault.all.map(\.code.rawValue)) == [], "provoke it in a 'Fault'")
        #expect(Set(Fault.all.map(\.code.rawValue)).subtracting(codes) == [])
    }

    @Test("writing without permission throws an error with advice, and the file does not change O66 D53")
    func permission()
        async
    {
        await #expect(processExitsWith: .success) {
            let fixture = try FaultFixture()
            for suffix in ["", "-wal", "-shm", ".lock"] { chmod(fixture.url.path + suffix, 0o444) }
            chmod(fixture.folder.path, 0o755)
            // Permissions do not restrict root, so the process continues as the user 'nobody'.
            if getuid() == 0 { seteuid(65_534) }
            do {
                try fixture.write {}
                exit(2)
            } catch let error as Realm.Error where error.code == .fileAccess {
                guard error.message.contains("'readOnly'") else { exit(3) }
            }
            guard try fixture.open({ $0.readOnly = true }).objects(Node.self).count == 3 else { exit(4) }
        }
    }
}
